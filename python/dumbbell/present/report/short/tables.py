"""The tables of the short report: all schemes on a path, shares of competing flows, and every run."""

from dataclasses import replace
from functools import cached_property
from urllib.parse import quote

from dumbbell.catalog.families import family_name
from dumbbell.present.plots import FEW
from dumbbell.present.report.content import ReportModel, RunEntry
from dumbbell.present.report.drawn.overview import Overview
from dumbbell.present.report.result_tables import PathTables, ShownMetric, groups, runs_field
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.shares import flow_schemes
from dumbbell.results.analysis.summary import Estimate, Repetitions, bounds_legend

UTILIZATION = ShownMetric("utilization", "utilisation, whole run (%)", 100.0, 1)
JAIN = ShownMetric("jain_index", "Jain's index", 1.0, 3)

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
    def best_first(self) -> list[Repetitions]:
        """The runs of each scheme; the scheme with the most throughput is the first."""
        key = ("network", 0, self.main[0].key)

        def rank(group: Repetitions) -> tuple[bool, float]:
            estimate = group.estimate(key)
            return (estimate is None, -estimate.mean if estimate else 0.0)

        return sorted(self.all_columns.by_scheme, key=rank)

    def schemes(self) -> Table:
        """All schemes: the main metrics by the model's convention, and a few more."""
        more = [
            (where, metric)
            for where, metric in ((("link", 1), UTILIZATION), (("network", 0), JAIN))
            if any(group.values.get((*where, metric.key)) for group in self.best_first)
            and (metric is not JAIN or self.all_columns.flows > 1)
        ]
        families = len(self.best_first) > FEW
        rows = [
            (
                Field(self.model.scheme_title(group.scheme), scheme=group.scheme, best=group.scheme in self.in_front),
                *([Field(family_name(group.scheme))] if families else []),
                runs_field(group),
                *(metric.mean(group.estimate(("network", 0, metric.key))) for metric in self.main),
                *(_plain(metric, group.estimate((*where, metric.key))) for where, metric in more),
            )
            for group in self.best_first
        ]
        metrics = [*self.main, *(metric for _, metric in more)]
        names = ("scheme", *(["family"] if families else []), _RUNS)
        columns = (*names, *(metric.heading for metric in metrics))
        align = "l" * (len(names) - 1)
        return Table(self._caption(), groups(len(names), metrics), columns, tuple(rows), align, len(names))

    def _caption(self) -> str:
        model, shown = self.model, self.model.shown
        several = " All flows of a run together." if self.all_columns.flows > 1 else ""
        front = (
            f" In bold: schemes that no other scheme beats in both {shown.throughput.title} and {shown.delay.title}."
            if self.in_front
            else ""
        )
        clocks = any(group.shifts for group in self.best_first)
        legend = bounds_legend(max((group.good for group in self.best_first), default=0), clocks)
        warmup = f" (warm-up: {model.warmup_s:.3g} s)" if "warm-up" in shown.rules else ""
        rules = shown.sentence(warmup)
        sentence = f"Means over the runs, most {shown.throughput.title} first.{several} {rules}{front} {legend}"
        return sentence.strip()

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
        return metric.single(run.network.get(metric.key), run.interval("network", 0, metric.key))


def _plain(metric: ShownMetric, estimate: Estimate | None) -> Field:
    """Return the field of a mean without a second line: what lies there is told when it is pointed at."""
    field = metric.mean(estimate)
    return replace(field, note="", hover=" ".join(field.note.splitlines()))
