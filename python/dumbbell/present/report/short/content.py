"""Contents of both forms of the short report: its figures, its tables, and their paths."""

from collections.abc import Iterator
from functools import cached_property

from dumbbell.present.model.content import PathEntry, ReportModel
from dumbbell.present.model.drawing import Figures, draw_paths
from dumbbell.present.report.short.across import Across
from dumbbell.present.report.short.tables import ShortTables, all_cells
from dumbbell.present.report.short.texts import MOST_CELLS
from dumbbell.present.tables import Table


class ShortContent:
    """Parts of a short report. A grid has figures and tables of all its cells together."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model
        self.across = Across(model)
        self.is_grid = self.across.is_grid

    @property
    def paths(self) -> tuple[PathEntry, ...]:
        """Paths with sections of their own; the cells of a large grid have none."""
        return () if self.is_grid and len(self.model.paths) > MOST_CELLS else self.model.paths

    @cached_property
    def figures(self) -> Figures:
        """Figures of the paths."""
        return draw_paths(self.model, paths=self.paths)

    def tables(self, path: str) -> ShortTables:
        """Return the tables of a path."""
        return ShortTables(self.model, path, self.figures.overview)

    def cell_tables(self) -> Iterator[tuple[str, Table]]:
        """Yield the tables of all cells of a grid with their headings; nothing for other results."""
        if self.is_grid:
            yield from all_cells([self.tables(path.name) for path in self.model.paths], self.across.cells)
