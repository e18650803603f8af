"""The figures of a report: which there are, and drawing them on all processors."""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell import _core
from dumbbell.execution.processes import apart_from_program
from dumbbell.figures import (
    Curve,
    FlowDelays,
    FlowMedia,
    FlowRates,
    Panel,
    Point,
    Style,
    delay_figure,
    flow_stroke,
    media_figure,
    styles,
    summary_figure,
    throughput_figure,
    time_figure,
)
from dumbbell.report.model import PathEntry, ReportModel, RunEntry
from dumbbell.report.source import Rates, delays, rates
from dumbbell.report.wording import figure_title
from dumbbell.results.environment import cpus
from dumbbell.results.kept import Source
from dumbbell.results.samples import NOTHING, Series, read_samples
from dumbbell.results.summary import repetitions

BIN_S = 0.5  # Pantheon's
_WORTH_A_POOL = 6  # a worker takes about as long to start as this many runs take to draw


@dataclass(frozen=True)
class RunFigures:
    """The drawings of a run, or why there are none. Programs and imported logs have no senders that were sampled."""

    throughput: str = ""
    delay: str = ""
    window: str = ""
    rtt: str = ""
    media: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Figures:
    """All drawings of a report: by path and, for runs, by folder."""

    styles: Mapping[str, Style]
    means: dict[str, str] = field(default_factory=dict)
    every_run: dict[str, str] = field(default_factory=dict)
    runs: dict[str, RunFigures] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """What it takes to draw a run. `flows` are the metrics of the flows the log should have.

    `titles` are added to the names of flows.
    """

    name: str
    packets: Source
    samples: Source | None
    flows: list[dict[str, Any]]
    titles: Mapping[int, str]
    link_capacity_mbps: float | None
    log_capacity_mbps: float | None


def draw(model: ReportModel, jobs: int | None = None, step: Callable[[RunEntry], None] = lambda _: None) -> Figures:
    """Draws every figure on `jobs` processors (all of them if None); calls `step` after each run."""
    figures = Figures(model_styles(model))
    tasks = {}
    for index, run in enumerate(model.runs):
        if "packets.parquet" in run.files:
            tasks[run.folder] = _job(model, run, f"r{index}")
        else:
            figures.runs[run.folder] = RunFigures(problem=run.reason or "the run kept no packet log")
            step(run)
    for index, path in enumerate(model.paths):
        figures.means[path.name] = draw_means(model, figures.styles, path, f"p{index}m")
        figures.every_run[path.name] = draw_every_run(model, figures.styles, path, f"p{index}a")
    by_folder = {run.folder: run for run in model.runs}
    for folder, drawn in zip(tasks, _map(list(tasks.values()), min(jobs or cpus(), len(tasks))), strict=True):
        figures.runs[folder] = drawn
        step(by_folder[folder])
    return figures


def _map(tasks: Sequence[Job], workers: int) -> Iterator[RunFigures]:
    if workers < 2 or len(tasks) < _WORTH_A_POOL:
        yield from map(draw_run, tasks)
        return
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        with apart_from_program():
            drawn = pool.map(draw_run, tasks)
        yield from drawn


def _job(model: ReportModel, run: RunEntry, name: str) -> Job:
    """Flows are called by their scheme where a run has several schemes."""
    mixed = len({flow.get("scheme") for flow in run.flows}) > 1
    titles = {flow["flow"]: f" ({model.scheme_title(flow['scheme'])})" for flow in run.flows} if mixed else {}
    return Job(
        name=name,
        packets=model.directory / run.folder / "packets.parquet",
        samples=model.directory / run.folder / "flows.parquet" if "flows.parquet" in run.files else None,
        flows=run.flows,
        titles=titles,
        link_capacity_mbps=run.links[0].get("capacity_mbps") if run.links else None,
        log_capacity_mbps=run.network.get("capacity_mbps"),
    )


def draw_run(job: Job) -> RunFigures:
    """The figures of a run. An unreadable log is a reason, not an error: the other runs matter."""
    try:
        series = rates(job.packets, BIN_S)
        clouds = _clouds(job, sorted(series.egress))
        sampled = read_samples(job.samples)
    except _core.Error as error:
        return RunFigures(problem=str(error).replace(f"{_folder(job)}/", ""))
    return RunFigures(
        throughput=_throughput(job, series),
        delay=delay_figure(f"{job.name}d", clouds, series.start_s),
        window=_samples(job, "w", sampled.get("cwnd"), "Congestion window (packets)", series.start_s),
        rtt=_samples(job, "s", sampled.get("srtt"), "Smoothed RTT (ms)", series.start_s),
        media=_media(job, sampled, series.start_s),
    )


def _folder(job: Job) -> Path | None:
    return job.packets.parent if isinstance(job.packets, Path) else None


def draw_throughput(job: Job) -> str:
    """Only the rates of a run."""
    return _throughput(job, rates(job.packets, BIN_S))


def draw_delay(job: Job) -> str:
    """Only the delays of a run's packets."""
    series = rates(job.packets, BIN_S)
    return delay_figure(f"{job.name}d", _clouds(job, sorted(series.egress)), series.start_s)


def draw_media(job: Job) -> str:
    """Only what live sources did; nothing if none of the flows is one."""
    return _media(job, read_samples(job.samples), rates(job.packets, BIN_S).start_s)


def _throughput(job: Job, series: Rates) -> str:
    known = {flow["flow"]: flow for flow in job.flows}
    lines = []
    for flow in sorted(series.egress):
        values = known.get(flow, {})
        means = (values.get("ingress_mbps"), values.get("throughput_mbps"))
        title = job.titles.get(flow, "")
        # what a log does not tell is not drawn as zero
        ingress = series.ingress[flow] if not values or means[0] is not None else []
        egress = series.egress[flow] if not values or means[1] is not None else []
        lines.append(FlowRates(flow, title, ingress, egress, *means))
    capacity, mean_capacity = series.capacity, job.log_capacity_mbps
    if not capacity and job.link_capacity_mbps is not None and lines:
        # a link of fixed rate logs no opportunities: its mean rate stands for them
        capacity = [job.link_capacity_mbps] * max(len(line.egress_mbps) for line in lines)
        mean_capacity = job.link_capacity_mbps
    return throughput_figure(f"{job.name}t", lines, series.bin_s, capacity, mean_capacity)


def _clouds(job: Job, flows: Sequence[int]) -> list[FlowDelays]:
    points = delays(job.packets)
    metrics = {flow["flow"]: flow for flow in job.flows}
    clouds = []
    for flow in flows:
        found = metrics.get(flow, {})
        rtt_ms, p95_ms = found.get("rtt_p95_ms"), found.get("delay_p95_ms")
        title, shown = job.titles.get(flow, ""), p95_ms if rtt_ms is None else rtt_ms
        clouds.append(FlowDelays(flow, title, *points.get(flow, NOTHING), shown, round_trip=rtt_ms is not None))
    return clouds


def _samples(job: Job, suffix: str, found: Mapping[str, Series] | None, label: str, start_s: float) -> str:
    """The figure of a sampled field; nothing if no sender has it."""
    if not found:
        return ""
    curves = []
    for flow, (time_s, values) in sorted((int(flow), series) for flow, series in found.items()):
        title = f"Flow {flow}{job.titles.get(flow, '')}"
        curves.append(Curve(title, flow_stroke(flow), time_s - start_s, values, held=True))
    return time_figure(f"{job.name}{suffix}", [Panel(label, curves, height=165.0)])


def _media(job: Job, sampled: Mapping[str, Mapping[str, Series]], start_s: float) -> str:
    """The figure of the flows that are live sources; nothing if none is."""
    flows = []
    for values in job.flows:
        flow = values["flow"]
        encoder = sampled.get("encoder_rate", {}).get(str(flow))
        if not values.get("media") or encoder is None:
            continue
        frame_s, delay_ms = sampled.get("frame_delay", {}).get(str(flow), NOTHING)
        _, sizes = sampled.get("frame_size", {}).get(str(flow), NOTHING)
        # senders are sampled before their flow starts and after it stops, too
        alive = (encoder[0] >= values["start_s"]) & (encoder[0] <= values["stop_s"])
        encoder_s, frame_s = encoder[0][alive] - start_s, frame_s - start_s
        edges_s = _edges(values["start_s"] - start_s, values["stop_s"] - start_s)
        bytes_decoded = numpy.histogram(frame_s, edges_s, weights=sizes)[0]
        flows.append(
            FlowMedia(
                flow=flow,
                name=job.titles.get(flow, ""),
                encoder_s=encoder_s,
                encoder_mbps=encoder[1][alive],
                edges_s=edges_s,
                decoded_mbps=bytes_decoded * 8e-6 / numpy.diff(edges_s),
                mean_decoded_mbps=values["media"]["media_rate_mbps"],
                frame_s=frame_s,
                frame_delay_ms=delay_ms,
            )
        )
    return media_figure(f"{job.name}v", flows) if flows else ""


def _edges(begin_s: float, end_s: float) -> NDArray[Any]:
    """Bins from `begin_s` to `end_s`; a short rest at the end belongs to the last one."""
    edges = begin_s + numpy.arange(max(round((end_s - begin_s) / BIN_S), 1) + 1) * BIN_S
    edges[-1] = end_s
    return edges


def _title(model: ReportModel, path: PathEntry) -> str:
    return figure_title(
        model.backend,
        path.heading,
        model.runs_per_scheme,
        model.duration_s,
        model.flows,
        model.interval_s,
        model.even_flows,
    )


def model_styles(model: ReportModel) -> dict[str, Style]:
    """How the report's schemes look."""
    return styles((scheme.name, scheme.color, scheme.marker) for scheme in model.schemes)


def draw_means(model: ReportModel, looks: Mapping[str, Style], path: PathEntry, name: str) -> str:
    """Throughput over delay: the mean of each scheme on a path."""
    points = []
    for (_, scheme), group in repetitions(run.content for run in model.of(path.name)).items():
        delay = group.estimate(("network", 0, "delay_p95_ms"))
        throughput = group.estimate(("network", 0, "throughput_mbps"))
        if delay and throughput:
            points.append(_point(model, looks, scheme, delay.mean, throughput.mean, f"mean of {throughput.count} runs"))
    return summary_figure(name, f"{_title(model, path)} (mean of all runs by scheme)", points, annotate=True)


def draw_every_run(model: ReportModel, looks: Mapping[str, Style], path: PathEntry, name: str) -> str:
    """Throughput over delay: every run on a path."""
    points = []
    for run in model.of(path.name):
        delay, throughput = run.network.get("delay_p95_ms"), run.network.get("throughput_mbps")
        if run.good and delay is not None and throughput is not None:
            points.append(_point(model, looks, run.scheme, delay, throughput, f"run {run.number}"))
    return summary_figure(name, _title(model, path), points, annotate=False)


def _point(
    model: ReportModel, looks: Mapping[str, Style], scheme: str, delay_ms: float, throughput_mbps: float, what: str
) -> Point:
    title = model.scheme_title(scheme)
    hover = f"{title}, {what}: {throughput_mbps:.2f} Mbit/s, {delay_ms:.1f} ms"
    return Point(title, delay_ms, throughput_mbps, looks[scheme], hover)
