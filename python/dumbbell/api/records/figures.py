"""Figures as objects that show themselves in a notebook."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, listed
from dumbbell.present.figure_request import Drawn, OfResults, OfRun
from dumbbell.present.figures import ALL_PATHS, GRID, RUN, figure_module, kinds, scope, shows
from dumbbell.present.plots import for_notebook, for_print
from dumbbell.results.files import write_atomically
from dumbbell.results.series.table import TABLE_FORMS, Table, check_form

if TYPE_CHECKING:
    from dumbbell.api.records.run_record import RunRecord


FORMS = (".svg", ".pdf", ".png")
"""The endings of files that a figure can be saved as."""


@dataclass(frozen=True)
class Figure:
    """A drawing. A notebook shows it; `save` makes a file of it."""

    title: str
    drawing: str
    """SVG whose ink is not decided yet."""
    numbers: Callable[[], Table] = field(repr=False)

    @property
    def svg(self) -> str:
        """The figure as an SVG document, in dark ink without a background."""
        return for_print(self.drawing)

    @cached_property
    def data(self) -> Table:
        """The numbers that it shows."""
        return self.numbers()

    def save(self, file: str | Path) -> Path:
        """Writes the figure; the name has to end in `.svg`, `.pdf` or `.png`.

        Raises:
            dumbbell.Error: it ends in something else.
            OSError: the file cannot be written.
        """
        file = Path(file)
        check_form(file, "figures", FORMS)
        if file.suffix == ".svg":
            write_atomically(file, self.svg)
        else:
            from dumbbell.present.plots.parts.typeset import figure_as

            write_atomically(file, figure_as(file.suffix[1:], self.svg))
        return file

    def _repr_svg_(self) -> str:
        return for_notebook(self.drawing, self.title)

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
    """The kinds of figures: `kind`, `of` (what one figure is of), `shows`."""
    return [{"kind": kind, "of": scope(kind), "shows": said} for kind, said in kinds().items()]


def run_figure(kind: str, run: "RunRecord") -> Figure:
    """A figure of one run: `RunResults.figure`."""
    if scope(kind) != RUN:
        raise UserError(f"figure `{kind}`: is of several runs: ask their results for it")
    # identifiers are unique on a page
    of = OfRun(kind, _identifier(f"{kind} {run.label} {run.seed}"), run)
    return _figure(kind, figure_module(kind).draw(of))


def results_figure(
    kind: str,
    directory: Path,
    path: str | None,
    scheme: str | None,
    beside: Sequence[Path],
    legacy: bool,
    *,
    convention: str,
) -> Figure:
    """A figure of many runs: `Results.figure`."""
    name = {
        ALL_PATHS: f"{kind} {[directory, *beside]} {legacy}",
        GRID: f"{kind} {directory} {path} {scheme}",
    }.get(scope(kind), f"{kind} {directory} {path}")
    of = OfResults(kind, _identifier(name), directory, path, scheme, beside, legacy, convention)
    return _figure(kind, figure_module(kind).draw(of))


def kinds_of(wanted: str) -> str:
    """Return the kinds of figures of this scope, for messages."""
    return listed(kind for kind in kinds() if scope(kind) == wanted)


def _identifier(text: str) -> str:
    return f"d{zlib.crc32(text.encode()):08x}"


def _figure(kind: str, drawn: Drawn) -> Figure:
    return Figure(f"{drawn.of}: {shows(kind)}" if drawn.of else shows(kind), drawn.drawing, drawn.data)
