"""Tables of the short report: all schemes on a path, shares of competing flows, and every run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from urllib.parse import quote

from dumbbell.base.errors import capitalized
from dumbbell.catalog.families import family_name
from dumbbell.present.model.cells import Cells
from dumbbell.present.model.content import ReportModel, RunEntry
from dumbbell.present.model.overview import Overview
from dumbbell.present.model.result_tables import PathTables, ShownMetric, groups, runs_field
from dumbbell.present.plots import FEW
from dumbbell.present.report.short.texts import SHARES
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.axis_words import axis_heading, axis_label, axis_phrases
from dumbbell.results.analysis.shares import flow_schemes
from dumbbell.results.analysis.summary import Estimate, Repetitions, bounds_legend
from dumbbell.results.numbers import is_number, value_of

UTILIZATION = ShownMetric("utilization", "utilisation, whole run (%)", 100.0, 1)
JAIN = ShownMetric("jain_index", "Jain's index", 1.0, 3)

ALL_SCHEMES, ALONE, TOGETHER = "All schemes", "Schemes by themselves", "All flows of a mix together"

_MOST_SHARES = 60
_RUNS = "runs"


class ShortTables:
    """Tables of one path."""

    def __init__(self, model: ReportModel, path: str, overview: Overview) -> None:
        self.model = model
        self.path = path
        self.in_front = {mean.scheme for mean in overview.means[path] if mean.in_front}
        self.all_columns = PathTables(model, path)
        self.main = [ShownMetric.of(metric, model.convention.label) for metric in model.convention.metrics]

    @cached_property
    def singles(self) -> list[Repetitions]:
        """Runs of each scheme, without the mixes if the path has other runs."""
        mixes = self.model.mixes_beside_singles[self.path]
        return [group for group in self.best_first if group.scheme not in mixes]

    @cached_property
    def mixes(self) -> list[Repetitions]:
        """Runs of each mix, if the path has other runs."""
        mixes = self.model.mixes_beside_singles[self.path]
        return [group for group in self.best_first if group.scheme in mixes]

    @cached_property
    def best_first(self) -> list[Repetitions]:
        """Runs of each scheme; the scheme with the most throughput comes first."""
        key = ("network", 0, self.main[0].key)

        def rank(group: Repetitions) -> tuple[bool, float]:
            estimate = group.estimate(key)
            return (estimate is None, -estimate.mean if estimate else 0.0)

        return sorted(self.all_columns.by_scheme, key=rank)

    def means(self) -> Iterator[tuple[str, Table]]:
        """Yield the tables of means with their headings: of schemes, and of mixes if the path has both."""
        yield (ALONE if self.mixes else ALL_SCHEMES), self._means(self.singles)
        if self.mixes:
            yield TOGETHER, self._means(self.mixes)

    def _means(self, groups_shown: list[Repetitions]) -> Table:
        """Return a table of the main metrics by the model's convention, and a few more."""
        flows = max((len(flows) for group in groups_shown for flows in group.flows), default=0) or self.model.flows
        more = [
            (entity, metric)
            for entity, metric in ((("link", 1), UTILIZATION), (("network", 0), JAIN))
            if any(group.values.get((*entity, metric.key)) for group in groups_shown)
            and (metric is not JAIN or flows > 1)
        ]
        families = len(groups_shown) > FEW
        rows = [
            (
                Field(self.model.scheme_title(group.scheme), scheme=group.scheme, best=group.scheme in self.in_front),
                *([Field(family_name(group.scheme))] if families else []),
                runs_field(group),
                *(metric.mean(group.estimate(("network", 0, metric.key))) for metric in self.main),
                *(_plain(metric, group.estimate((*entity, metric.key))) for entity, metric in more),
            )
            for group in groups_shown
        ]
        metrics = [*self.main, *(metric for _, metric in more)]
        names = ("scheme", *(["family"] if families else []), _RUNS)
        columns = (*names, *(metric.heading for metric in metrics))
        align = "l" * (len(names) - 1)
        return Table(
            self._caption(groups_shown, flows), groups(len(names), metrics), columns, tuple(rows), align, len(names)
        )

    def _caption(self, rows: list[Repetitions], flows: int) -> str:
        model, convention = self.model, self.model.convention
        several = " All flows of a run together." if flows > 1 else ""
        front = self.bold_sentence(bool(self.in_front.intersection(group.scheme for group in rows)))
        order = f"Means over the runs, most {convention.throughput.title} first."
        sentence = f"{order}{several} {convention.sentence(model.warmup_s)}{front} {_legend(rows)}"
        return sentence.strip()

    def bold_sentence(self, is_used: bool) -> str:
        """Return a sentence about the schemes in bold; empty if none is."""
        titles = f"{self.model.convention.throughput.title} and {self.model.convention.delay.title}"
        return f" In bold: schemes that no other scheme beats in both {titles}." if is_used else ""

    def shares(self) -> Table:
        """Return the shares of flows in runs of several flows; a long table keeps only runs of several schemes."""
        table = self.all_columns.shares()
        if len(table.rows) <= _MOST_SHARES:
            return table
        mixed_schemes = {group.scheme for group in self.best_first if flow_schemes(group)}
        return replace(table, rows=tuple(row for row in table.rows if row[0].scheme in mixed_schemes))

    def every_run(self) -> Table:
        """Return every run with its main metrics and files."""
        rows = [
            (
                Field(self.model.scheme_title(run.scheme), scheme=run.scheme),
                Field(str(run.number), sort=run.number),
                Field(run.status, bad=not run.good),
                *(replace(self._value(run, metric), note="") for metric in self.main),
                Field("", links=tuple((name, quote(f"{run.folder}/{name}")) for name in run.files)),
            )
            for run in self.model.of(self.path)
        ]
        columns = ("scheme", "run", "status", *(metric.heading for metric in self.main), "raw logs")
        names = (("", 3), (self.model.convention.label, len(self.main)), ("", 1))
        return Table("", names, columns, tuple(rows), "lrlrrrl")

    def _value(self, run: RunEntry, metric: ShownMetric) -> Field:
        return metric.single(value_of(run.network, metric.key), run.interval("network", 0, metric.key))


def _legend(rows: Sequence[Repetitions]) -> str:
    clocks = any(group.shifts for group in rows)
    return bounds_legend(max((group.good for group in rows), default=0), clocks)


def all_cells(tables: Sequence[ShortTables], cells: Cells) -> Iterator[tuple[str, Table]]:
    """Yield the tables of all cells of a grid, each with its heading: shares, and means."""
    shares = {cell_tables.path: share_table for cell_tables in tables if (share_table := cell_tables.shares()).rows}
    means = [(cell_tables.path, *entry) for cell_tables in tables for entry in cell_tables.means()]
    groups = [group for cell_tables in tables for group in cell_tables.best_first]
    convention = tables[0].model.convention
    if shares:
        yield SHARES, _merge(shares, cells, next(iter(shares.values())).caption)
    for heading in dict.fromkeys(heading for _, heading, _ in means):
        of_cells = {path: table for path, name, table in means if name == heading}
        order = f"Means over the runs, in each cell most {convention.throughput.title} first."
        order += tables[0].bold_sentence(any(cell_tables.in_front for cell_tables in tables))
        caption = f"{order} {convention.sentence(tables[0].model.warmup_s)} {_legend(groups)}"
        yield heading, _merge(of_cells, cells, caption)


def _merge(tables: Mapping[str, Table], cells: Cells, caption: str) -> Table:
    """Return the tables of several cells as one table, whose first columns are the axes that vary."""
    values = {name: {repr(cells.axes[path].get(name)) for path in tables} for name in cells.varied}
    axes = [name for name, axis_values in values.items() if len(axis_values) > 1]
    first_axes = cells.axes[next(iter(tables))]
    common_axes = {name: first_axes.get(name) for name in values if name not in axes and name != "path"}
    if text := axis_phrases(common_axes):
        caption = f"{capitalized(text)}. {caption}"
    columns = list(dict.fromkeys(column for table in tables.values() for column in table.columns))
    align_of_column = {
        column: table.align[n : n + 1] or "r" for table in tables.values() for n, column in enumerate(table.columns)
    }
    rows = []
    for path, table in tables.items():
        axis_fields = [_value(cells.axes[path].get(name)) for name in axes]
        for row in table.rows:
            fields = dict(zip(table.columns, row, strict=True))
            rows.append((*axis_fields, *(fields.get(column, Field("-")) for column in columns)))
    numbers = ("r" if n and all(row[n].sort is not None for row in rows) else "l" for n in range(len(axes)))
    align = "".join([*numbers, *(align_of_column[column] for column in columns)])
    names = tuple(axis_heading(name) for name in axes)
    return Table(caption, (), (*names, *columns), tuple(rows), align)


def _value(value: object) -> Field:
    return Field("-" if value is None else axis_label(value), sort=float(value) if is_number(value) else None)


def _plain(metric: ShownMetric, estimate: Estimate | None) -> Field:
    """Return the field of a mean in one line; its second line appears on hovering."""
    field = metric.mean(estimate)
    return replace(field, note="", hover=" ".join(field.note.splitlines()))
