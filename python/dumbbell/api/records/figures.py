"""Figures as objects that show themselves in a notebook."""

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
"""The endings of files that a figure can be saved as."""


@dataclass(frozen=True)
class Figure:
    """A drawing. A notebook shows it; `save` makes a file of it."""

    title: str
    drawing: str
    """SVG whose ink is not decided yet."""
    numbers: Callable[[], Table] = field(repr=False)
    sheet: Sheet = SCREEN
    """Size on paper, letters and theme."""
    paper: Callable[[], PaperTable] | None = field(default=None, repr=False)
    """The numbers as a table for a paper; None: all of them, row by row."""
    name: str = ""
    """Kind and subject, for the label of that table."""
    caption: str = ""
    """Text for below the figure in a paper: its title, the number and length of its runs, and what is counted."""

    @property
    def svg(self) -> str:
        """The figure as an SVG document: in dark ink without a background, unless it has a theme."""
        return for_print(self.drawing, self.sheet.theme)

    @cached_property
    def data(self) -> Table:
        """The numbers that it shows."""
        return self.numbers()

    def save(self, file: str | Path) -> Path:
        """Writes the figure; the name has to end in `.svg`, `.pdf`, `.png`, or `.tex` for a LaTeX table of its numbers.

        Raises:
            dumbbell.Error: it ends in something else, or a table would have too many rows.
            OSError: the file cannot be written.
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
    """Refuses names that a figure and its numbers cannot be saved under, before anything is drawn.

    Raises:
        dumbbell.Error: one of them ends in something else, or its folder does not exist.
    """
    check_form(figure, "figures", FORMS)
    check_form(data, "tables", TABLE_FORMS)
    for file in (figure, data):
        if not file.parent.is_dir():
            raise UserError(f"{file}: there is no folder {file.parent}")


def figure_kinds() -> list[dict[str, str]]:
    """The kinds of figures: `kind`, `of` (what one figure is of), `shows`, and the `options` that it takes."""
    return [
        {"kind": kind, "of": scope(kind), "shows": said, "options": ", ".join(options(kind))}
        for kind, said in kinds().items()
    ]


def run_figure(kind: str, run: "RunRecord", options: FigureOptions, sheet: Sheet) -> Figure:
    """A figure of one run: `RunResults.figure`."""
    if scope(kind) != RUN:
        raise UserError(f"figure `{kind}`: is of several runs: ask their results for it")
    check_options(kind, options.given)
    # identifiers are unique on a page
    of = RunFigureRequest(kind, _identifier(f"{kind} {run.label} {run.seed} {options} {sheet}"), run, options)
    return _figure(kind, of, sheet)


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
    """A figure of many runs: `Results.figure`."""
    name = _identifier(f"{kind} {directory} {path} {scheme} {options} {sheet}")
    of = ResultsFigureRequest(kind, name, load(directory, convention=convention), path, scheme, options)
    return _figure(kind, of, sheet)


def _identifier(text: str) -> str:
    return f"d{zlib.crc32(text.encode()):08x}"


def _figure(kind: str, of: RunFigureRequest | ResultsFigureRequest, sheet: Sheet) -> Figure:
    with use_sheet(sheet):
        drawn: DrawnFigure = figure_module(kind).draw(of)
    said = drawn.shows or shows(kind)
    heading = f"{drawn.subject}: {said}" if drawn.subject else said
    title = f"{heading}; {drawn.note}" if drawn.note else heading
    caption = f"{heading if drawn.subject else capitalized(heading)}. {drawn.runs_note}".strip()
    return Figure(title, drawn.drawing, drawn.data, sheet, drawn.paper, f"{kind} {drawn.subject}".strip(), caption)
