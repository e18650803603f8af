"""Requests for figures, of a run or of a results directory, and what is drawn."""

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
from dumbbell.results.series.samples import RunSamples, Sampled, read_sampled, run_samples
from dumbbell.results.series.table import Table

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.specification import RunSpec

UNNAMED = "run"
"""The name of an experiment that is made of options only."""

Rows = Iterator[list[object]]
"""Rows of the table behind a figure of a run, in the columns of `COLUMNS` if it has no others."""

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
    """With the denominators of the Copa reproduction."""
    range: tuple[float, float] | None = None
    """The lowest and the highest value that the colours of a map tell apart."""

    @property
    def given(self) -> list[str]:
        """The names of the options that are given."""
        return [name for name, value in vars(self).items() if value not in (None, (), False)]


NO_OPTIONS = FigureOptions()


@dataclass(frozen=True)
class Drawn:
    """A drawing with its subject and the numbers that it shows."""

    of: str
    """For titles; empty where the kind of figure says it all."""
    drawing: str
    """SVG whose ink is not decided yet."""
    data: Callable[[], Table]
    note: str = ""
    """By which convention its metrics are, where the axes do not say it."""
    shows: str = ""
    """What it shows, of kinds that show different things."""
    paper: Callable[[], PaperTable] | None = None
    """The numbers as a table for a paper; None: all of them, row by row."""
    made: str = ""
    """Sentences for its caption: how many runs it is of, how long they are, and the rules of its convention."""


class DrawnRun(Protocol):
    """A run that is drawn, as the library has it."""

    statistics: RunTable
    kept: Mapping[str, Source]
    schemes: Mapping[str, Scheme]

    @property
    def label(self) -> str:
        """For messages."""

    @property
    def specification(self) -> RunSpec:
        """What the core was given for it."""

    def source(self, name: str) -> Source:
        """Where the core finds what the run kept under this name.

        Raises:
            dumbbell.Error: it kept nothing.
        """


@dataclass(frozen=True)
class OfRun:
    """Request for a figure of one run."""

    kind: str
    name: str
    """Starts the identifiers in the drawing."""
    run: DrawnRun
    options: FigureOptions = NO_OPTIONS

    def drawn(
        self, drawing: str, rows: Callable[[], Rows], columns: Mapping[str, str] = COLUMNS, shows: str = ""
    ) -> Drawn:
        """Return what was drawn, with the rows of its table and their columns.

        Raises:
            UserError: there is no drawing, for nothing was recorded.
        """
        if not drawing:
            raise UserError(f"{self.run.label}: figure `{self.kind}`: nothing of it was recorded")
        duration_s = float(self.run.specification["duration_s"])
        made = f"A run of {duration_s:g} s."
        return Drawn(self.run.label, drawing, lambda: Table.of(columns, list(rows())), shows=shows, made=made)

    @cached_property
    def samples(self) -> RunSamples:
        """What was sampled of flows and links."""
        return run_samples(self.run.kept, self.run.statistics, self.run.specification)

    @property
    def lines(self) -> Lines:
        """How its flows look."""
        names = list(dict.fromkeys(flow.scheme for flow in self.samples.flows))
        known = {name: self.run.schemes.get(name) for name in names}
        titles = {name: scheme.title if scheme else name for name, scheme in known.items()}
        looks = styles(
            (name, *((scheme.color, scheme.marker) if scheme else ("", ""))) for name, scheme in known.items()
        )
        return flow_lines(self.samples, titles, looks)

    @property
    def job(self) -> Job:
        """As the figures of reports need it."""
        return draw_job(self.name, self.run.statistics, self.run.kept, self._title)

    def _title(self, scheme: str) -> str:
        return self.run.schemes[scheme].title if scheme in self.run.schemes else scheme

    @property
    def path(self) -> Description:
        """What the path is."""
        return describe(self.run.specification["path"])

    @property
    def capacity_mbps(self) -> Steps | None:
        """That of the path, where it follows from the path alone."""
        rate = self.path.rates_mbps
        return Steps(*rate) if rate else None

    def scheme(self, flow: int) -> str:
        """Return the scheme of a flow."""
        flows = self.run.statistics["flows"]
        return next((str(each.get("scheme") or "") for each in flows if each["flow"] == flow), "")

    def sampled_rows(self, fields: Iterable[tuple[str, str]]) -> Rows:
        """Yield the rows of each flow's samples of these fields, given with their units."""
        for flow in self.samples.flows:
            for name, unit in fields:
                yield from series_rows(f"flow {flow.flow}", flow.scheme, name, unit, *getattr(flow, name))

    def logged_rows(self, choose: Callable[[Sampled], Iterable[str]]) -> Rows:
        """Yield the rows of what was logged of the senders: of the fields that are chosen."""
        sampled = read_sampled(self.run.kept.get(FLOWS))
        for name in choose(sampled):
            found = sampled.series.get(name, {})
            for flow, values in sorted(found.items(), key=lambda each: int(each[0])):
                yield from series_rows(f"flow {flow}", self.scheme(int(flow)), name, sampled.units[name], *values)


def series_rows(of: str, scheme: str, name: str, unit: str, times: Iterable[Any], values: Iterable[Any]) -> Rows:
    """Yield the rows of one series."""
    for time_s, value in zip(times, values, strict=True):
        yield [of, scheme, name, unit, float(time_s), float(value)]


@dataclass(frozen=True)
class OfResults:
    """Request for a figure of many runs."""

    kind: str
    name: str
    """Starts the identifiers in the drawing."""
    model: ReportModel
    """The results."""
    path: str | None = None
    scheme: str | None = None
    options: FigureOptions = NO_OPTIONS

    @cached_property
    def overview(self) -> Overview:
        """Its planes, over the metrics that were asked for."""
        options = self.options
        return Overview(self.model, self.metric(options.x), self.metric(options.y), options.schemes)

    @property
    def schemes(self) -> list[SchemeEntry]:
        """The schemes that it is of."""
        wanted = self.options.schemes
        return [entry for entry in self.model.schemes if not wanted or entry.name in wanted]

    def metric(self, name: str | None) -> FigureMetric | None:
        """Return the metric of this name; None for none.

        Raises:
            UserError: there is no such metric.
        """
        return None if name is None else find_metric(name, list(self.model.titles))

    @property
    def whole(self) -> str:
        """The experiment's name, for titles; empty where the command line gave it none."""
        return "" if self.model.name == UNNAMED else self.model.name

    @property
    def main_metrics(self) -> list[FigureMetric]:
        """Throughput, delay and loss, by the convention that is shown."""
        return [main_metric(metric, self.model.shown) for metric in self.model.shown.metrics]

    def runs_on(self, path: str) -> list[RunEntry]:
        """Return the runs of its schemes on a path that count."""
        wanted = self.options.schemes
        return [run for run in self.model.of(path) if run.good and (not wanted or run.scheme in wanted)]

    @cached_property
    def _counts(self) -> list[int]:
        """Return the number of runs that count of each scheme on each of its paths."""
        wanted = [(entry.name, path.name) for entry in self.schemes for path in self.model.paths]
        found = [
            self.model.gathered[path, scheme].good
            for scheme, path in wanted
            if self.path in (None, path) and self.scheme in (None, scheme) and (path, scheme) in self.model.gathered
        ]
        return [count for count in found if count]

    def made(self, metrics: Sequence[FigureMetric], starts: str | None = None) -> str:
        """Return what the caption of a figure of these metrics says of the runs, in sentences.

        `starts` is one on when the flows of a run start; unless given, figures of shares have one.
        """
        model = self.model
        told = [f"{runs_text(self._counts, model.duration_s)}."] if self._counts else []
        if starts is None:
            starts = starts_sentence(model.interval_s) if any(metric.scheme for metric in metrics) else ""
        told += filter(None, [starts])
        if {metric.key for metric in metrics} & set(model.shown.keys):
            told.append(model.shown.sentence(model.warmup_s))
        return " ".join(told)

    def note(self, counts: Sequence[int], bars: str = "") -> str:
        """Return a line for the figure itself: how many runs its values are of, and what its bars show.

        The line is empty on a sheet of paper, where the caption has it.
        """
        if sheet().width_pt or not counts:
            return ""
        told = [runs_text(counts, self.model.duration_s), *([f"bars: {bars}"] if bars else [])]
        return "; ".join(told)

    @property
    def one_path(self) -> str:
        """The path, of a figure that is of one."""
        assert self.path is not None
        return self.path

    def drawn(
        self,
        of: str,
        drawing: str,
        columns: Mapping[str, str],
        rows: Callable[[], list[list[object]]],
        why: str,
        metrics: Sequence[FigureMetric] = (),
        shows: str = "",
        paper: Callable[[], PaperTable] | None = None,
        starts: str | None = None,
    ) -> Drawn:
        """Return what was drawn of these metrics, with its tables; `shows` says it where the kind does not.

        `starts` says when the flows of a run start.

        Raises:
            UserError: there is no drawing; `why` says so.
        """
        if not drawing:
            raise UserError(f"figure `{self.kind}`: {why}")
        note, made = convention_note(metrics), self.made(metrics, starts)
        return Drawn(of, drawing, lambda: Table.of(columns, rows()), note, shows, paper, made)
