"""Figures of a report: their kinds, and drawing on all CPUs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.base.errors import one_line
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.base.spread import START_S, Helpers, worth
from dumbbell.machine.description import cpus
from dumbbell.present.model.content import PathEntry, ReportModel, RunEntry
from dumbbell.present.model.over_time import (
    IN_WORDS as OVER_TIME_WORDS,
    KINDS as OVER_TIME,
    OverTime,
    caption as over_time_caption,
)
from dumbbell.present.model.overview import Overview
from dumbbell.present.model.series import flow_label, flow_labels, numbered_lines, queue_of
from dumbbell.present.model.source import Rates, delays, rates
from dumbbell.present.model.staircase import CAPTION as STAIRCASE_CAPTION, KINDS as STAIRCASE, Staircases
from dumbbell.present.model.state import state_of
from dumbbell.present.plots import (
    Curve,
    DelayAxis,
    FlowDelays,
    FlowMedia,
    FlowRates,
    JainLine,
    Panel,
    Step,
    Steps,
    Stroke,
    Style,
    WindowSeries,
    delay_axis,
    delay_figure,
    jain_figure,
    media_figure,
    queue_figure,
    staircase_figure,
    state_figure,
    throughput_figure,
    time_figure,
    window_figure,
)
from dumbbell.present.plots.parts.style import INK
from dumbbell.results.analysis.jain import RULES, WINDOW_S, is_staircase, jain_series
from dumbbell.results.clocks import Clocks, clocks_of, clocks_text
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS, Source, kept_files
from dumbbell.results.series.samples import (
    NOTHING,
    LinkSamples,
    Samples,
    Series,
    planned_span,
    read_links,
    read_sampled,
    thinned,
)

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import FlowStats

BIN_S = 0.5  # Pantheon's
_STEADY = 0.005  # of a capacity: smaller changes are drawn as a constant
NO_LOG = "the run kept no packet log and no samples"

_LATE_S = 1e-6  # tolerance, since times are rounded

_RUN_S, _RANGE = 0.3, 0.15
_BYTES_PER_S = 12e6
"""Cost of the figures of a run, s; share of a log's cost that its rates take; bytes of a packet log drawn per
second."""


@dataclass(frozen=True)
class RunFigures:
    """Drawings of a run by kind (of `SHOWN`), or the reason why there are none.

    Programs and imported logs have no samples of senders; imported logs have no links either.
    """

    drawings: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


SHOWN = {
    "throughput": "Throughput over time",
    "staircase": "Throughput of each flow, and their mean, over time",
    "jain": "Jain's index over time",
    "delay": "One-way delay of every packet over time",
    "queue": "Queue, drops and marks at the bottleneck over time",
    "window": "Congestion window and pacing rate over time",
    "rtt": "Smoothed RTT over time",
    "state": "State of the controller over time",
    "media": "Encoder rate, decoded bitrate and the delay of every frame over time",
}
"""Subjects of the figures of a run by kind, in order."""

OF_STAIRCASES = ("staircase", "jain")
"""Kinds that a report has only if flows join one by one and leave again."""


@dataclass(frozen=True)
class MoreFigures:
    """Figures of a path that not every experiment has: drawing and subject in words, by kind."""

    drawings: Mapping[str, tuple[str, str]]
    caption: str


@dataclass(frozen=True)
class Figures:
    """Drawings of a report: by path, and for runs by folder."""

    overview: Overview
    styles: Mapping[str, Style]
    means: dict[str, str] = field(default_factory=dict)
    every_run: dict[str, str] = field(default_factory=dict)
    over_time: dict[str, dict[str, str]] = field(default_factory=dict)
    """Figures of campaigns by path and kind."""
    staircase: dict[str, dict[str, str]] = field(default_factory=dict)
    """Figures of joining and leaving flows by path and kind."""
    runs: dict[str, RunFigures] = field(default_factory=dict)

    def more(self, path: str) -> list[MoreFigures]:
        """Return the optional figures of a path, besides throughput over delay."""
        parts = (
            (self.over_time, OVER_TIME_WORDS, over_time_caption(self.overview.model.convention)),
            (self.staircase, STAIRCASE, STAIRCASE_CAPTION),
        )
        figures = []
        for by_path, words, caption in parts:
            drawings = {kind: (drawing, words[kind]) for kind, drawing in by_path.get(path, {}).items() if drawing}
            if drawings:
                figures.append(MoreFigures(drawings, caption))
        return figures


@dataclass(frozen=True)
class Job:
    """Inputs for drawing a run.

    `flows` are the metrics of the flows that the log should have; `labels` are names of flows. `bottleneck` is the name
    of a link in the samples `links`. Runs that are compared by eye have the same `delay_axis`. `rates` are the rates of
    the packet log, or None if not computed yet.
    """

    name: str
    packets: Source | None
    samples: Source | None
    links: Source | None
    bottleneck: str
    flows: Sequence[FlowStats]
    labels: Mapping[int, str]
    link_capacity_mbps: float | None
    log_capacity_mbps: float | None
    jain_window_s: float = WINDOW_S
    delay_axis: DelayAxis | None = None
    rates: Rates | None = None
    clocks: Clocks | None = None

    def label(self, flow: int) -> str:
        """Return the name of a flow, also of a flow that only the log has."""
        return self.labels.get(flow) or flow_label(flow)


def draw(model: ReportModel, jobs: int | None = None, progress: Progress | None = None) -> Figures:
    """Draw every figure of the paths and of all runs on `jobs` CPUs (all if None)."""
    figures = draw_paths(model, every_run=True)
    draw_runs(figures, model, model.runs, jobs, progress)
    return figures


def draw_paths(model: ReportModel, every_run: bool = False, paths: Sequence[PathEntry] | None = None) -> Figures:
    """Draw the figures of the `paths`, or of all; with `every_run` also throughput over delay of all runs."""
    overview, over_time, staircases = Overview(model), OverTime(model), Staircases(model)
    figures = Figures(overview, model.styles)
    for index, path in enumerate(model.paths if paths is None else paths):
        figures.means[path.name] = overview.draw("means", path.name, f"p{index}m")
        if every_run:
            figures.every_run[path.name] = overview.draw("runs", path.name, f"p{index}a")
        drawings = {kind: over_time.draw(kind, path.name, f"p{index}{kind[0]}t") for kind in OVER_TIME}
        figures.over_time[path.name] = {kind: drawing for kind, drawing in drawings.items() if drawing}
        kinds = STAIRCASE if staircases.has_staircase(path.name) else {}
        figures.staircase[path.name] = {kind: staircases.draw(path.name, f"p{index}{kind[0]}s") for kind in kinds}
    return figures


def draw_runs(
    figures: Figures,
    model: ReportModel,
    selection: Sequence[RunEntry],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Add the figures of a selection of runs, drawn on `jobs` CPUs (all if None); delays on a path have one axis."""
    tasks = {}
    for index, run in enumerate(selection):
        files = kept_files(model.root / run.folder)
        if files:
            tasks[run.folder] = draw_job(f"r{index}", run.content, files, model.scheme_title)
        else:
            figures.runs[run.folder] = RunFigures(problem=run.reason or NO_LOG)
    by_folder = {run.folder: run for run in selection}
    runs = [by_folder[folder] for folder in tasks]
    logs_s = [_log_bytes(job) / _BYTES_PER_S for job in tasks.values()]
    workers = worth(jobs or cpus(), sum(logs_s) + _RUN_S * len(tasks))
    progress = progress or Progress()
    ranges = _stage(progress, "delays of runs", runs, [_RANGE * log_s for log_s in logs_s], workers, START_S)
    drawings = _stage(progress, "figures of runs", runs, [_RUN_S + log_s for log_s in logs_s], workers)
    with Helpers(workers) as helpers:
        rates_of_runs = helpers.map(_rates, list(tasks.values()), ranges)
        tasks = _on_one_axis(runs, tasks, rates_of_runs)
        for run, run_figures in zip(runs, helpers.map(draw_run, list(tasks.values()), drawings), strict=True):
            figures.runs[run.folder] = (
                replace(run_figures, problem=run.reason)
                if run_figures.problem == NO_LOG and run.reason
                else run_figures
            )


def _stage(
    progress: Progress, noun: str, runs: Sequence[RunEntry], costs: Sequence[float], workers: int, start_s: float = 0.0
) -> Stage:
    labels = (f"{run.scheme} on {run.path}, run {run.number}" for run in runs)
    pieces = [Piece(label, cost_s) for label, cost_s in zip(labels, costs, strict=True)]
    return progress.expect(noun, pieces, workers, start_s if workers > 1 else 0.0)


def _log_bytes(job: Job) -> int:
    status = job.packets.status() if isinstance(job.packets, Entry) else None
    return 0 if status is None else status.st_size


def _on_one_axis(
    runs: Sequence[RunEntry], tasks: Mapping[str, Job], rates_of_runs: Sequence[Rates | None]
) -> dict[str, Job]:
    """Return the jobs with their rates and one delay axis for all runs on a path, to compare schemes by eye."""
    ranges: dict[str, list[float]] = {}
    for run, series in zip(runs, rates_of_runs, strict=True):
        ranges.setdefault(run.path, []).extend(series.delay_range_ms if series else ())
    axes = {path: delay_axis(ends) for path, ends in ranges.items() if ends}
    return {
        run.folder: replace(tasks[run.folder], delay_axis=axes.get(run.path), rates=series)
        for run, series in zip(runs, rates_of_runs, strict=True)
    }


def _rates(job: Job) -> Rates | None:
    """Return the rates and the delay range of a run; None for an unreadable log, which drawing reports."""
    try:
        return _Logs(job).rates
    except core.Error:
        return None


def draw_job(name: str, run: RunTable, files: Mapping[str, Source], title: Callable[[str], str]) -> Job:
    """Return the job of a run, given as in `show --json`; `title` returns the title of a scheme."""
    flows, links = run["flows"], run["links"]
    return Job(
        name=name,
        packets=files.get(PACKETS),
        samples=files.get(FLOWS),
        links=files.get(LINKS),
        bottleneck=links[0]["link"] if links else "",
        flows=flows,
        labels=flow_labels({flow["flow"]: title(flow.get("scheme", "")) for flow in flows}),
        link_capacity_mbps=links[0].get("capacity_mbps") if links else None,
        log_capacity_mbps=run["network"].get("capacity_mbps"),
        jain_window_s=run["network"].get("jain_window_s") or WINDOW_S,
        clocks=clocks_of(run),
    )


class _Logs:
    """Logs of a run, read on demand."""

    def __init__(self, job: Job) -> None:
        self.job = job

    @cached_property
    def rates(self) -> Rates:
        """Rates of the flows; without a packet log, none and a start of zero."""
        packets = self.job.packets
        if self.job.rates is not None:
            return self.job.rates
        return rates(packets, BIN_S) if packets is not None else Rates(BIN_S, 0.0, {}, {}, [])

    @property
    def start_s(self) -> float:
        """Zero of the time axis, s."""
        return self.rates.start_s

    @cached_property
    def sampled(self) -> Samples:
        """Samples of the senders."""
        return read_sampled(self.job.samples)

    @cached_property
    def link(self) -> LinkSamples | None:
        """Samples of the bottleneck."""
        return read_links(self.job.links).get(self.job.bottleneck)


def draw_run(job: Job) -> RunFigures:
    """Return the figures of a run. An unreadable log is a problem of this run, not an error: other runs matter."""
    logs = _Logs(job)
    try:
        kinds = [kind for kind in SHOWN if kind not in OF_STAIRCASES or is_staircase(job.flows)]
        drawings = {kind: _DRAW[kind](job, logs) for kind in kinds}
    except core.Error as error:
        return RunFigures(problem=str(error).replace(f"{_folder(job)}/", ""))
    except (ArithmeticError, ValueError) as error:  # numbers that cannot be drawn
        return RunFigures(problem=f"what it kept cannot be drawn: {one_line(error)}")
    figures = {kind: drawing for kind, drawing in drawings.items() if drawing}
    return RunFigures(figures, "" if figures else NO_LOG)


def draw_one(job: Job, kind: str) -> str:
    """Return one figure of a run, of a kind in `SHOWN`, also if a report leaves it out; empty without records.

    Raises:
        core.Error: A file of the run is damaged.
    """
    return _DRAW[kind](job, _Logs(job))


def _folder(job: Job) -> Entry | None:
    files = [file for file in (job.packets, job.samples, job.links) if isinstance(file, Entry)]
    return files[0].parent if files else None


def _throughput(job: Job, logs: _Logs) -> str:
    if job.packets is None:
        return ""
    series = logs.rates
    metrics = {flow["flow"]: flow for flow in job.flows}
    lines = []
    for flow in sorted(series.egress):
        values = metrics.get(flow)
        means = (None, None) if values is None else (values.get("ingress_mbps"), values.get("throughput_mbps"))
        # a rate that the log does not record is not drawn as zero
        ingress = series.ingress[flow] if not values or means[0] is not None else []
        egress = series.egress[flow] if not values or means[1] is not None else []
        lines.append(FlowRates(flow, job.label(flow), ingress, egress, *means))
    capacity = _capacity(job, logs)
    # mean over the packets of the log, else the link's mean
    mean_capacity = job.log_capacity_mbps if series.capacity else job.link_capacity_mbps if capacity else None
    return throughput_figure(f"{job.name}t", lines, series.bin_s, capacity, mean_capacity)


def staircase(job: Job, changes_s: Sequence[float] = ()) -> str:
    """Return the figure of the rates of all flows and their mean; empty without a packet log.

    The figure has a line at each change of the path.
    """
    if job.packets is None:
        return ""
    series = stairs(job)
    time_s = numpy.array(series.time_s)
    lines = numbered_lines(job.labels)
    steps = [Step(lines[flow].label, lines[flow].stroke, rate) for flow, rate in series.mbps.items() if flow in lines]
    capacity = Steps([0.0], [job.link_capacity_mbps]) if job.link_capacity_mbps else None
    return staircase_figure(f"{job.name}a", time_s, steps, capacity, changes_s)


@dataclass(frozen=True)
class Stairs:
    """Rates of the flows on the path per window, by flow; NaN while a flow is not active.

    `time_s` are the ends of the windows since the start of the run.
    """

    time_s: NDArray[Any]
    mbps: dict[int, NDArray[Any]]


def stairs(job: Job) -> Stairs:
    """Return the series of the figure `staircase`. A flow is active in the windows within its planned time."""
    assert job.packets is not None
    width_s = job.jain_window_s
    series = rates(job.packets, width_s)
    count = max((len(values) for values in series.egress.values()), default=0)
    time_s = series.start_s + width_s * numpy.arange(1, count + 1)
    mbps = {}
    for flow in job.flows:
        values = numpy.array(series.egress.get(flow["flow"], numpy.zeros(count)), dtype=float)
        start_s, stop_s = planned_span(flow)
        active = (time_s - width_s >= start_s - _LATE_S) & (time_s <= stop_s + _LATE_S)
        mbps[flow["flow"]] = numpy.where(active, values, numpy.nan)
    return Stairs(time_s, mbps)


def _jain(job: Job, _logs: _Logs) -> str:
    """Return the figure of Jain's index by all rules; empty without a packet log."""
    if job.packets is None:
        return ""
    series = {rule: jain_series(job.packets, job.flows, rule, job.jain_window_s) for rule in RULES}
    return jain_figure(
        f"{job.name}j", [JainLine(RULES[rule], line.index, line.time_s) for rule, line in series.items()]
    )


def shown_capacity(job: Job) -> list[float]:
    """Return the capacity in the throughput figure per bin, Mbit/s."""
    return _capacity(job, _Logs(job))


def _capacity(job: Job, logs: _Logs) -> list[float]:
    """Return the capacity per bin from the log, from samples of the link, or else its mean rate."""
    series = logs.rates
    bins = max((len(values) for values in series.egress.values()), default=0)
    if series.capacity or job.link_capacity_mbps is None or not bins:
        return series.capacity
    return _offered_mbps(logs.link, bins, series) or [job.link_capacity_mbps] * bins


def _delay(job: Job, logs: _Logs) -> str:
    if job.packets is None:
        return ""
    points = delays(job.packets)
    metrics = {flow["flow"]: flow for flow in job.flows}
    clouds = []
    for flow in sorted(logs.rates.egress):
        flow_metrics = metrics.get(flow)
        rtt_ms, p95_ms = (
            (None, None) if flow_metrics is None else (flow_metrics.get("rtt_p95_ms"), flow_metrics.get("delay_p95_ms"))
        )
        line_ms, label = p95_ms if rtt_ms is None else rtt_ms, job.label(flow)
        note = "" if rtt_ms is not None or p95_ms is None else _clocks(job, flow, p95_ms)
        round_trip = rtt_ms is not None
        clouds.append(FlowDelays(flow, label, *points.get(flow, NOTHING), line_ms, round_trip=round_trip, note=note))
    return delay_figure(f"{job.name}d", clouds, logs.start_s, job.delay_axis)


def _clocks(job: Job, flow: int, p95_ms: float) -> str:
    """Return a note with the interval that the clocks give a flow's delay."""
    interval = None if job.clocks is None else job.clocks.interval("flow", flow, "delay_p95_ms", p95_ms)
    text = clocks_text(interval, "{:.2f}".format)
    return f", {text}" if text else ""


def _offered_mbps(link: LinkSamples | None, bins: int, series: Rates) -> list[float]:
    """Return the capacity of a link of varying rate in each bin, Mbit/s; empty if not sampled or steady."""
    if link is None or len(link.capacity_mbps[0]) == 0:
        return []
    time_s, mbps = link.capacity_mbps
    total = numpy.concatenate([[0.0], numpy.cumsum(mbps * numpy.diff(time_s, prepend=0.0))])
    edges = series.start_s + numpy.arange(bins + 1) * series.bin_s
    edges[-1] = min(edges[-1], time_s[-1]) if time_s[-1] > edges[-2] else edges[-1]
    bin_mbps = numpy.diff(numpy.interp(edges, [0.0, *time_s], total)) / numpy.diff(edges)
    steady = bin_mbps.max() - bin_mbps.min() <= _STEADY * bin_mbps.max()
    return [] if steady else [float(value) for value in bin_mbps]


def _sampled_by_flow(job: Job, logs: _Logs, name: str) -> dict[int, Series]:
    """Return a sampled field by flow, thinned to the points that a figure can show."""
    series_by_flow = {int(flow): series for flow, series in logs.sampled.series.get(name, {}).items()}
    flows = [flow["flow"] for flow in job.flows]
    return {
        flow: thinned((series_by_flow[flow][0] - logs.start_s, series_by_flow[flow][1]))
        for flow in sorted(series_by_flow)
        if flow in flows
    }


def _queue(job: Job, logs: _Logs) -> str:
    """Return the figure of the bottleneck; empty if no link was sampled."""
    link = logs.link
    if link is None or len(link.queue_packets[0]) == 0:
        return ""
    series = [
        (values[0] - logs.start_s, values[1]) for values in (link.queue_packets, link.drops_packets, link.marks_packets)
    ]
    relative_link = replace(link, queue_packets=series[0], drops_packets=series[1], marks_packets=series[2])
    return queue_figure(f"{job.name}q", [queue_of(relative_link, job.bottleneck, Stroke(INK, "o"))])


def _window(job: Job, logs: _Logs) -> str:
    """Return the figure of window, threshold and pacing rate; empty if no sender has them."""
    fields = [_sampled_by_flow(job, logs, name) for name in ("cwnd", "ssthresh", "pacing_rate")]
    flows = [
        WindowSeries(line.label, line.stroke, *(values.get(flow) for values in fields))
        for flow, line in numbered_lines(job.labels).items()
        if any(flow in values for values in fields)
    ]
    return window_figure(f"{job.name}w", flows) if flows else ""


def _rtt(job: Job, logs: _Logs) -> str:
    lines = numbered_lines(job.labels)
    srtt = _sampled_by_flow(job, logs, "srtt")
    curves = [Curve(lines[flow].label, lines[flow].stroke, *values, is_stepwise=True) for flow, values in srtt.items()]
    panel = Panel("Smoothed RTT (ms)", curves, height=165.0, from_zero=False)
    return time_figure(f"{job.name}s", [panel]) if curves else ""


def _state(job: Job, logs: _Logs) -> str:
    """Return the figure of the controllers' modes and variables; empty if no controller reports any."""
    modes, variables = state_of(logs.sampled, numbered_lines(job.labels), logs.start_s)
    return state_figure(f"{job.name}c", modes, variables) if modes or variables else ""


def _media(job: Job, logs: _Logs) -> str:
    """Return the figure of the live sources; empty if no flow is one."""
    samples, start_s = logs.sampled.series, logs.start_s
    flows = []
    for values in job.flows:
        flow = values["flow"]
        encoder = samples.get("encoder_rate", {}).get(str(flow))
        media = values.get("media")
        if not media or encoder is None:
            continue
        frame_s, delay_ms = samples.get("frame_delay", {}).get(str(flow), NOTHING)
        _, sizes = samples.get("frame_size", {}).get(str(flow), NOTHING)
        # senders are sampled before their flow starts and after it stops, too
        begun_s, ended_s = planned_span(values)
        alive = (encoder[0] >= begun_s) & (encoder[0] <= ended_s)
        encoder_s, frame_s = encoder[0][alive] - start_s, frame_s - start_s
        ended_s = min(ended_s, max(encoder[0], default=0.0) + 1.0)  # bounds the bins even if the statistics are wrong
        edges_s = _edges(begun_s - start_s, ended_s - start_s)
        bytes_decoded = numpy.histogram(frame_s, edges_s, weights=sizes)[0]
        flows.append(
            FlowMedia(
                flow=flow,
                name=job.label(flow),
                encoder_s=encoder_s,
                encoder_mbps=encoder[1][alive],
                edges_s=edges_s,
                decoded_mbps=bytes_decoded * 8e-6 / numpy.diff(edges_s),
                mean_decoded_mbps=media.get("media_rate_mbps"),
                frame_s=frame_s,
                frame_delay_ms=delay_ms,
            )
        )
    return media_figure(f"{job.name}v", flows) if flows else ""


def _edges(begin_s: float, end_s: float) -> NDArray[Any]:
    """Return the edges of bins from `begin_s` to `end_s`; a short rest at the end belongs to the last bin."""
    edges = begin_s + numpy.arange(max(round((end_s - begin_s) / BIN_S), 1) + 1) * BIN_S
    edges[-1] = end_s
    return edges


_DRAW: dict[str, Callable[[Job, _Logs], str]] = {
    "throughput": _throughput,
    "staircase": lambda job, _: staircase(job),
    "jain": _jain,
    "delay": _delay,
    "queue": _queue,
    "window": _window,
    "rtt": _rtt,
    "state": _state,
    "media": _media,
}
