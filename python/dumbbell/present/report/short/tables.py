"""The tables of the short report: all schemes on a path, shares of competing flows, and every run."""

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
    """The tables of one path."""

    def __init__(self, model: ReportModel, path: str, overview: Overview) -> None:
        self.model = model
        self.path = path
        self.in_front = {mean.scheme for mean in overview.means[path] if mean.in_front}
        self.all_columns = PathTables(model, path)
        self.main = [ShownMetric.of(metric, model.shown.label) for metric in model.shown.metrics]

    @cached_property
    def singles(self) -> list[Repetitions]:
        """The runs of each scheme, without the mixes if there are others."""
        mixes = self.model.mixes_beside_singles[self.path]
        return [group for group in self.best_first if group.scheme not in mixes]

    @cached_property
    def mixes(self) -> list[Repetitions]:
        """The runs of each mix, where there are others."""
        mixes = self.model.mixes_beside_singles[self.path]
        return [group for group in self.best_first if group.scheme in mixes]

    @cached_property
    def best_first(self) -> list[Repetitions]:
        """The runs of each scheme; the scheme with the most throughput is the first."""
        key = ("network", 0, self.main[0].key)

        def rank(group: Repetitions) -> tuple[bool, float]:
            estimate = group.estimate(key)
            return (estimate is None, -estimate.mean if estimate else 0.0)

        return sorted(self.all_columns.by_scheme, key=rank)

    def means(self) -> Iterator[tuple[str, Table]]:
        """Yield the tables of means with their headings: of schemes, and of mixes where both were run."""
        yield (ALONE if self.mixes else ALL_SCHEMES), self._means(self.singles)
        if self.mixes:
            yield TOGETHER, self._means(self.mixes)

    def _means(self, shown: list[Repetitions]) -> Table:
        """The main metrics by the model's convention, and a few more."""
        flows = max((len(flows) for group in shown for flows in group.flows), default=0) or self.model.flows
        more = [
            (where, metric)
            for where, metric in ((("link", 1), UTILIZATION), (("network", 0), JAIN))
            if any(group.values.get((*where, metric.key)) for group in shown) and (metric is not JAIN or flows > 1)
        ]
        families = len(shown) > FEW
        rows = [
            (
                Field(self.model.scheme_title(group.scheme), scheme=group.scheme, best=group.scheme in self.in_front),
                *([Field(family_name(group.scheme))] if families else []),
                runs_field(group),
                *(metric.mean(group.estimate(("network", 0, metric.key))) for metric in self.main),
                *(_plain(metric, group.estimate((*where, metric.key))) for where, metric in more),
            )
            for group in shown
        ]
        metrics = [*self.main, *(metric for _, metric in more)]
        names = ("scheme", *(["family"] if families else []), _RUNS)
        columns = (*names, *(metric.heading for metric in metrics))
        align = "l" * (len(names) - 1)
        return Table(self._caption(shown, flows), groups(len(names), metrics), columns, tuple(rows), align, len(names))

    def _caption(self, rows: list[Repetitions], flows: int) -> str:
        model, shown = self.model, self.model.shown
        several = " All flows of a run together." if flows > 1 else ""
        front = self.bold_sentence(bool(self.in_front.intersection(group.scheme for group in rows)))
        order = f"Means over the runs, most {shown.throughput.title} first."
        sentence = f"{order}{several} {shown.sentence(model.warmup_s)}{front} {_legend(rows)}"
        return sentence.strip()

    def bold_sentence(self, is_used: bool) -> str:
        """Say what is bold, if anything is."""
        both = f"{self.model.shown.throughput.title} and {self.model.shown.delay.title}"
        return f" In bold: schemes that no other scheme beats in both {both}." if is_used else ""

    def shares(self) -> Table:
        """What each flow got in runs of several flows; of too many rows those of runs of several schemes."""
        found = self.all_columns.shares()
        if len(found.rows) <= _MOST_SHARES:
            return found
        mixed = {group.scheme for group in self.best_first if flow_schemes(group)}
        return replace(found, rows=tuple(row for row in found.rows if row[0].scheme in mixed))

    def every_run(self) -> Table:
        """Every run with its main metrics and the files that it kept."""
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
        names = (("", 3), (self.model.shown.label, len(self.main)), ("", 1))
        return Table("", names, columns, tuple(rows), "lrlrrrl")

    def _value(self, run: RunEntry, metric: ShownMetric) -> Field:
        return metric.single(value_of(run.network, metric.key), run.interval("network", 0, metric.key))


def _legend(rows: Sequence[Repetitions]) -> str:
    clocks = any(group.shifts for group in rows)
    return bounds_legend(max((group.good for group in rows), default=0), clocks)


def all_cells(tables: Sequence[ShortTables], cells: Cells) -> Iterator[tuple[str, Table]]:
    """Yield the tables of all cells of a grid, each with its heading: who got what, and means."""
    shares = {each.path: found for each in tables if (found := each.shares()).rows}
    means = [(each.path, *named) for each in tables for named in each.means()]
    groups = [group for each in tables for group in each.best_first]
    shown = tables[0].model.shown
    if shares:
        yield SHARES, _merged(shares, cells, next(iter(shares.values())).caption)
    for heading in dict.fromkeys(heading for _, heading, _ in means):
        of_cells = {path: table for path, name, table in means if name == heading}
        order = f"Means over the runs, in each cell most {shown.throughput.title} first."
        order += tables[0].bold_sentence(any(each.in_front for each in tables))
        caption = f"{order} {shown.sentence(tables[0].model.warmup_s)} {_legend(groups)}"
        yield heading, _merged(of_cells, cells, caption)


def _merged(tables: Mapping[str, Table], cells: Cells, caption: str) -> Table:
    """Return one table of those of several cells: the axes that vary are its first columns."""
    values = {name: {repr(cells.axes[path].get(name)) for path in tables} for name in cells.varied}
    axes = [name for name, found in values.items() if len(found) > 1]
    of = cells.axes[next(iter(tables))]
    same = {name: of.get(name) for name in values if name not in axes and name != "path"}
    if said := axis_phrases(same):
        caption = f"{capitalized(said)}. {caption}"
    columns = list(dict.fromkeys(column for table in tables.values() for column in table.columns))
    aligned = {
        column: table.align[n : n + 1] or "r" for table in tables.values() for n, column in enumerate(table.columns)
    }
    rows = []
    for path, table in tables.items():
        where = [_value(cells.axes[path].get(name)) for name in axes]
        for row in table.rows:
            known = dict(zip(table.columns, row, strict=True))
            rows.append((*where, *(known.get(column, Field("-")) for column in columns)))
    numbers = ("r" if n and all(row[n].sort is not None for row in rows) else "l" for n in range(len(axes)))
    align = "".join([*numbers, *(aligned[column] for column in columns)])
    names = tuple(axis_heading(name) for name in axes)
    return Table(caption, (), (*names, *columns), tuple(rows), align)


def _value(value: object) -> Field:
    return Field("-" if value is None else axis_label(value), sort=float(value) if is_number(value) else None)


def _plain(metric: ShownMetric, estimate: Estimate | None) -> Field:
    """Return the field of a mean without a second line: what lies there is told when it is pointed at."""
    field = metric.mean(estimate)
    return replace(field, note="", hover=" ".join(field.note.splitlines()))
