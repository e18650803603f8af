"""Figures as objects, which notebooks show."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, capitalized
from dumbbell.present.figures import RUN, check_options, figure_module, kinds, options, scope, shows
from dumbbell.present.model.content import load
from dumbbell.present.model.figure_request import DrawnFigure, FigureOptions, ResultsFigureRequest, RunFigureRequest
from dumbbell.present.paper_table import paper_table, require_rows
from dumbbell.present.plots import for_notebook, for_print
from dumbbell.present.plots.parts.sheet import SCREEN, Sheet, use_sheet
from dumbbell.present.tables import Table as PaperTable, latex
from dumbbell.results.files import write_atomically
from dumbbell.results.series.table import TABLE_FORMS, Table, check_form

if TYPE_CHECKING:
    from dumbbell.api.records.run_record import RunRecord


FORMS = (".svg", ".pdf", ".png", ".tex")
"""Suffixes of files in which a figure can be saved."""


@dataclass(frozen=True)
class Figure:
    """A figure. A notebook shows it; `save` writes it to a file."""

    title: str
    drawing: str
    """SVG with undetermined ink colour."""
    numbers: Callable[[], Table] = field(repr=False)
    sheet: Sheet = SCREEN
    """Size on paper, size of letters, and theme."""
    paper: Callable[[], PaperTable] | None = field(default=None, repr=False)
    """Function that returns the numbers as a table for a paper; None: all numbers, row by row."""
    name: str = ""
    """Kind and subject, for the label of the paper's table."""
    caption: str = ""
    """Caption of the figure in a paper: title, number and length of runs, and the counted packets."""

    @property
    def svg(self) -> str:
        """The figure as an SVG document: with dark ink and no background, unless it has a theme."""
        return for_print(self.drawing, self.sheet.theme)

    @cached_property
    def data(self) -> Table:
        """Numbers of the figure."""
        return self.numbers()

    def save(self, file: str | Path) -> Path:
        """Write the figure to a `.svg`, `.pdf` or `.png` file, or its numbers as a LaTeX table to a `.tex` file.

        Raises:
            dumbbell.Error: If the suffix is another one, or the table would have too many rows.
            OSError: If the file cannot be written.
        """
        file = Path(file)
        check_form(file, "figures", FORMS)
        if file.suffix == ".svg":
            write_atomically(file, self.svg)
        elif file.suffix == ".tex":
            table = self.paper() if self.paper else paper_table(self.data)
            require_rows(table, str(file))
            write_atomically(file, latex.render(table, f"{self.caption} {table.caption}".strip(), self.name))
        else:
            from dumbbell.present.plots.parts.typeset import figure_as

            write_atomically(file, figure_as(file.suffix[1:], self.svg, "0pt" if self.sheet != SCREEN else "3pt"))
        return file

    def _repr_svg_(self) -> str:
        return for_notebook(self.drawing, self.title, self.sheet.theme)

    def __repr__(self) -> str:
        return f"<dumbbell.Figure: {self.title}>"


def check_figure_files(figure: Path, data: Path) -> None:
    """Raise an error for names under which a figure and its numbers cannot be saved, before anything is drawn.

    Raises:
        dumbbell.Error: If a name has another suffix, or its folder does not exist.
    """
    check_form(figure, "figures", FORMS)
    check_form(data, "tables", TABLE_FORMS)
    for file in (figure, data):
        if not file.parent.is_dir():
            raise UserError(f"{file}: there is no folder {file.parent}")


def figure_kinds() -> list[dict[str, str]]:
    """Return the kinds of figures: `kind`, `of` (the subject of a figure), `shows`, and its `options`."""
    return [
        {"kind": kind, "of": scope(kind), "shows": description, "options": ", ".join(options(kind))}
        for kind, description in kinds().items()
    ]


def run_figure(kind: str, run: "RunRecord", options: FigureOptions, sheet: Sheet) -> Figure:
    """Return a figure of one run, for `RunResults.figure`."""
    if scope(kind) != RUN:
        raise UserError(f"figure `{kind}`: is of several runs: ask their results for it")
    check_options(kind, options.given)
    # identifiers are unique on a page
    request = RunFigureRequest(kind, _identifier(f"{kind} {run.label} {run.seed} {options} {sheet}"), run, options)
    return _figure(kind, request, sheet)


def results_figure(
    kind: str,
    directory: Path,
    path: str | None,
    scheme: str | None,
    options: FigureOptions,
    sheet: Sheet,
    *,
    convention: str,
) -> Figure:
    """Return a figure of many runs, for `Results.figure`."""
    name = _identifier(f"{kind} {directory} {path} {scheme} {options} {sheet}")
    request = ResultsFigureRequest(kind, name, load(directory, convention=convention), path, scheme, options)
    return _figure(kind, request, sheet)


def _identifier(text: str) -> str:
    return f"d{zlib.crc32(text.encode()):08x}"


def _figure(kind: str, request: RunFigureRequest | ResultsFigureRequest, sheet: Sheet) -> Figure:
    with use_sheet(sheet):
        drawn_figure: DrawnFigure = figure_module(kind).draw(request)
    description = drawn_figure.shows or shows(kind)
    heading = f"{drawn_figure.subject}: {description}" if drawn_figure.subject else description
    title = f"{heading}; {drawn_figure.note}" if drawn_figure.note else heading
    caption = f"{heading if drawn_figure.subject else capitalized(heading)}. {drawn_figure.runs_note}".strip()
    return Figure(
        title,
        drawn_figure.drawing,
        drawn_figure.data,
        sheet,
        drawn_figure.paper,
        f"{kind} {drawn_figure.subject}".strip(),
        caption,
    )
