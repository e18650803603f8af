"""Requests for figures of a run or of a results directory, and the drawn figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dumbbell.base.errors import UserError
from dumbbell.catalog.description import Description, describe
from dumbbell.catalog.scheme import Scheme
from dumbbell.present.model.captions import runs_text, starts_sentence
from dumbbell.present.model.content import ReportModel, RunEntry, SchemeEntry
from dumbbell.present.model.drawing import Job, draw_job
from dumbbell.present.model.figure_metrics import FigureMetric, convention_note, find_metric, main_metric
from dumbbell.present.model.overview import Overview
from dumbbell.present.model.series import Lines, flow_lines
from dumbbell.present.plots import Steps, styles
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.tables import Table as PaperTable
from dumbbell.results.series.run_files import FLOWS, Source
from dumbbell.results.series.samples import RunSamples, Samples, read_sampled, run_samples
from dumbbell.results.series.table import Table

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.specification import RunSpec

UNNAMED = "run"
"""Name of an experiment that consists of options only."""

Rows = Iterator[list[object]]
"""Rows of the table behind a figure of a run, in the columns of `COLUMNS` unless the figure names others."""

COLUMNS = {
    "of": "text",
    "scheme": "text",
    "field": "text",
    "unit": "text",
    "time_s": "number",
    "value": "number",
}


@dataclass(frozen=True)
class FigureOptions:
    """The options of a figure. Each kind of figure lists in `OPTIONS` those that it takes.

    `x`, `y` and `metric` are names of metrics, of sampled fields, or of axes of a grid. Without `schemes` a figure
    shows all schemes.
    """

    x: str | None = None
    y: str | None = None
    metric: str | None = None
    schemes: tuple[str, ...] = ()
    group_by: str | None = None
    from_s: float | None = None
    to_s: float | None = None
    beside: tuple[Path, ...] = ()
    """Other results directories."""
    legacy: bool = False
    """True for the denominators of the Copa reproduction."""
    range: tuple[float, float] | None = None
    """Lowest and highest value that the colours of a map distinguish."""

    @property
    def given(self) -> list[str]:
        """Names of the options that are set."""
        return [name for name, value in vars(self).items() if value not in (None, (), False)]


NO_OPTIONS = FigureOptions()


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its subject and its numbers."""

    subject: str
    """Subject for titles; empty if the kind of figure says it all."""
    drawing: str
    """SVG to which no theme is applied yet."""
    data: Callable[[], Table]
    note: str = ""
    """Convention of the metrics, unless the axes name it."""
    shows: str = ""
    """Subject in words, for kinds with several subjects."""
    paper: Callable[[], PaperTable] | None = None
    """Numbers as a table for a paper; None: all numbers, row by row."""
    runs_note: str = ""
    """Sentences for the caption: number and length of the runs, and the rules of the convention."""


class DrawnRun(Protocol):
    """A run to draw, as the library has it."""

    statistics: RunTable
    kept: Mapping[str, Source]
    schemes: Mapping[str, Scheme]

    @property
    def label(self) -> str:
        """Name for messages."""

    @property
    def specification(self) -> RunSpec:
        """Run spec that the core executed."""

    def source(self, name: str) -> Source:
        """Return the file that the run kept under this name.

        Raises:
            dumbbell.Error: The run kept no such file.
        """


@dataclass(frozen=True)
class RunFigureRequest:
    """Request for a figure of one run."""

    kind: str
    name: str
    """Prefix of the identifiers in the drawing."""
    run: DrawnRun
    options: FigureOptions = NO_OPTIONS

    def make_figure(
        self, drawing: str, rows: Callable[[], Rows], columns: Mapping[str, str] = COLUMNS, shows: str = ""
    ) -> DrawnFigure:
        """Return the figure with the rows of its table and their columns.

        Raises:
            UserError: The drawing is empty, since nothing was recorded.
        """
        if not drawing:
            raise UserError(f"{self.run.label}: figure `{self.kind}`: nothing of it was recorded")
        duration_s = float(self.run.specification["duration_s"])
        runs_note = f"A run of {duration_s:g} s."
        return DrawnFigure(
            self.run.label, drawing, lambda: Table.of(columns, list(rows())), shows=shows, runs_note=runs_note
        )

    @cached_property
    def samples(self) -> RunSamples:
        """Samples of flows and links."""
        return run_samples(self.run.kept, self.run.statistics, self.run.specification)

    @property
    def lines(self) -> Lines:
        """Labels and strokes of the flows."""
        names = list(dict.fromkeys(flow.scheme for flow in self.samples.flows))
        schemes = {name: self.run.schemes.get(name) for name in names}
        titles = {name: scheme.title if scheme else name for name, scheme in schemes.items()}
        looks = styles(
            (name, *((scheme.color, scheme.marker) if scheme else ("", ""))) for name, scheme in schemes.items()
        )
        return flow_lines(self.samples, titles, looks)

    @property
    def job(self) -> Job:
        """Job for the drawing functions of reports."""
        return draw_job(self.name, self.run.statistics, self.run.kept, self._title)

    def _title(self, scheme: str) -> str:
        return self.run.schemes[scheme].title if scheme in self.run.schemes else scheme

    @property
    def path(self) -> Description:
        """Description of the path."""
        return describe(self.run.specification["path"])

    @property
    def capacity_mbps(self) -> Steps | None:
        """Capacity of the path over time, or None if the path alone does not fix it."""
        rate = self.path.rates_mbps
        return Steps(*rate) if rate else None

    def scheme(self, flow: int) -> str:
        """Return the scheme of a flow."""
        flows = self.run.statistics["flows"]
        return next((str(entry.get("scheme") or "") for entry in flows if entry["flow"] == flow), "")

    def sampled_rows(self, fields: Iterable[tuple[str, str]]) -> Rows:
        """Yield the rows of each flow's samples of these fields, given with their units."""
        for flow in self.samples.flows:
            for name, unit in fields:
                yield from series_rows(f"flow {flow.flow}", flow.scheme, name, unit, *getattr(flow, name))

    def logged_rows(self, choose: Callable[[Samples], Iterable[str]]) -> Rows:
        """Yield the rows of the logged sender fields that `choose` selects."""
        samples = read_sampled(self.run.kept.get(FLOWS))
        for name in choose(samples):
            series_by_flow = samples.series.get(name, {})
            for flow, values in sorted(series_by_flow.items(), key=lambda item: int(item[0])):
                yield from series_rows(f"flow {flow}", self.scheme(int(flow)), name, samples.units[name], *values)


def series_rows(subject: str, scheme: str, name: str, unit: str, times: Iterable[Any], values: Iterable[Any]) -> Rows:
    """Yield the rows of one series."""
    for time_s, value in zip(times, values, strict=True):
        yield [subject, scheme, name, unit, float(time_s), float(value)]


@dataclass(frozen=True)
class ResultsFigureRequest:
    """Request for a figure of many runs."""

    kind: str
    name: str
    """Prefix of the identifiers in the drawing."""
    model: ReportModel
    """The results."""
    path: str | None = None
    scheme: str | None = None
    options: FigureOptions = NO_OPTIONS

    @cached_property
    def overview(self) -> Overview:
        """Planes over the requested metrics."""
        options = self.options
        return Overview(self.model, self.metric(options.x), self.metric(options.y), options.schemes)

    @property
    def schemes(self) -> list[SchemeEntry]:
        """Schemes of the figure."""
        names = self.options.schemes
        return [entry for entry in self.model.schemes if not names or entry.name in names]

    def metric(self, name: str | None) -> FigureMetric | None:
        """Return the metric of this name; None without a name."""
        return None if name is None else find_metric(name, list(self.model.titles))

    @property
    def experiment_name(self) -> str:
        """Name of the experiment for titles; empty if the command line gave it none."""
        return "" if self.model.name == UNNAMED else self.model.name

    @property
    def main_metrics(self) -> list[FigureMetric]:
        """Throughput, delay and loss by the shown convention."""
        return [main_metric(metric, self.model.convention) for metric in self.model.convention.metrics]

    def runs_on(self, path: str) -> list[RunEntry]:
        """Return the runs of the figure's schemes on a path that count."""
        names = self.options.schemes
        return [run for run in self.model.of(path) if run.good and (not names or run.scheme in names)]

    @cached_property
    def _counts(self) -> list[int]:
        """Numbers of counting runs of each scheme on each path of the figure, without zeros."""
        pairs = [(entry.name, path.name) for entry in self.schemes for path in self.model.paths]
        counts = [
            self.model.groups[path, scheme].good
            for scheme, path in pairs
            if self.path in (None, path) and self.scheme in (None, scheme) and (path, scheme) in self.model.groups
        ]
        return [count for count in counts if count]

    def describe_runs(self, metrics: Sequence[FigureMetric], starts: str | None = None) -> str:
        """Return sentences about the runs, for the caption of a figure of these metrics.

        `starts` is a sentence about the starts of flows; without it, figures of shares get the usual one.
        """
        model = self.model
        sentences = [f"{runs_text(self._counts, model.duration_s)}."] if self._counts else []
        if starts is None:
            starts = starts_sentence(model.interval_s) if any(metric.scheme for metric in metrics) else ""
        sentences += filter(None, [starts])
        if {metric.key for metric in metrics} & set(model.convention.keys):
            sentences.append(model.convention.sentence(model.warmup_s))
        return " ".join(sentences)

    def note(self, counts: Sequence[int], bars: str = "") -> str:
        """Return a line for the figure itself: the number of runs of its values, and the meaning of its bars.

        The line is empty on a sheet of paper, where the caption has it.
        """
        if sheet().width_pt or not counts:
            return ""
        parts = [runs_text(counts, self.model.duration_s), *([f"bars: {bars}"] if bars else [])]
        return "; ".join(parts)

    @property
    def one_path(self) -> str:
        """Path of a figure that covers one path."""
        assert self.path is not None
        return self.path

    def make_figure(
        self,
        subject: str,
        drawing: str,
        columns: Mapping[str, str],
        rows: Callable[[], list[list[object]]],
        problem: str,
        metrics: Sequence[FigureMetric] = (),
        shows: str = "",
        paper: Callable[[], PaperTable] | None = None,
        starts: str | None = None,
    ) -> DrawnFigure:
        """Return the figure of these metrics, with its tables; `shows` is its subject if the kind has several.

        `starts` is a sentence about the starts of flows.

        Raises:
            UserError: The drawing is empty; the message is `problem`.
        """
        if not drawing:
            raise UserError(f"figure `{self.kind}`: {problem}")
        note, runs_note = convention_note(metrics), self.describe_runs(metrics, starts)
        return DrawnFigure(subject, drawing, lambda: Table.of(columns, rows()), note, shows, paper, runs_note)
