"""Figures over time, from what runs sampled: operating point, distribution, fairness, response to a change."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from dumbbell.catalog.description import Description, describe
from dumbbell.present.plots import (
    CallSeries,
    Distribution,
    OperatingSeries,
    PathChange,
    Response,
    Share,
    Steps,
    calls_figure,
    distribution_figure,
    fairness_figure,
    flow_color,
    flow_stroke,
    operating_point_figure,
    step_figure,
)
from dumbbell.present.site.judging.findings import Findings, MeasuredCell, Site
from dumbbell.present.site.pictures.sketch import Sketch, Source, place, sources
from dumbbell.results.analysis.shares import flow_names
from dumbbell.results.numbers import value_of
from dumbbell.results.series.run_files import FLOWS, kept_files
from dumbbell.results.series.samples import NOTHING, FlowSamples, RunSamples, Series, read_samples, run_samples

MOST_FLOWS = 12
"""Flows of one run that a figure shows one by one."""

_MARK = 0.9

Array = NDArray[numpy.float64]


def _samples(source: Source) -> RunSamples:
    return run_samples(kept_files(source.folder), source.content, source.specification)


@dataclass(frozen=True)
class _OverTime(Sketch):
    """Runs whose series become lines: the first flow of each, or every flow of a single one."""

    runs: tuple[Source, ...] = ()
    every_flow: bool = False

    def lines(self) -> Iterator[tuple[str, Source, FlowSamples]]:
        """Each line's name, run and series."""
        for run in self.runs:
            flows = _samples(run).flows
            names = flow_names([flow["scheme"] for flow in run.content["flows"]])
            for flow in flows[:MOST_FLOWS] if self.every_flow else flows[:1]:
                yield (names[flow.flow - 1] if self.every_flow else run.title), run, flow

    @property
    def path(self) -> Description:
        """What the path does; it is the same in all of the runs."""
        return describe(self.runs[0].specification["path"])


@dataclass(frozen=True)
class _OperatingPoint(_OverTime):
    def draw(self, name: str) -> str:
        flows = [
            OperatingSeries(
                title,
                flow_stroke(flow.flow) if self.every_flow else run.stroke,
                flow.in_flight_segments,
                flow.srtt_ms,
                flow.throughput_mbps,
            )
            for title, run, flow in self.lines()
        ]
        path = self.path
        rate = Steps(*path.rates_mbps) if path.rates_mbps else None
        return operating_point_figure(name, flows, change=_changing(path), capacity_mbps=rate, changes_s=path.changes_s)


def _changing(path: Description) -> PathChange | None:
    """The RTT or loss if it changes; a changing rate is the ground of the throughput already."""
    if path.base_rtts_ms and len(path.base_rtts_ms[0]) > 1:
        return PathChange("Base RTT (ms)", Steps(*path.base_rtts_ms))
    if path.losses and len(path.losses[0]) > 1:
        return PathChange("Loss (%)", Steps(path.losses[0], [100.0 * value for value in path.losses[1]]))
    return None


@dataclass(frozen=True)
class _Distributions(_OverTime):
    def draw(self, name: str) -> str:
        lines = [
            Distribution(title, run.stroke, flow.throughput_mbps[1], flow.srtt_ms[1])
            for title, run, flow in self.lines()
        ]
        return distribution_figure(name, lines)


@dataclass(frozen=True)
class _Calls(_OverTime):
    def draw(self, name: str) -> str:
        calls = []
        for title, run, flow in self.lines():
            delays = read_samples(kept_files(run.folder).get(FLOWS)).get("frame_delay", {}).get(str(flow.flow), NOTHING)
            calls.append(
                CallSeries(
                    title,
                    flow_stroke(flow.flow) if self.every_flow else run.stroke,
                    _by_second(flow.throughput_mbps, lambda values: float(values.mean())),
                    _by_second(delays, lambda values: float(numpy.percentile(values, 95))),
                )
            )
        path = self.path
        rate = Steps(*path.rates_mbps) if path.rates_mbps else None
        return calls_figure(name, calls, rate, path.changes_s)


def _by_second(series: Series, reduce: Callable[[Array], float]) -> Series:
    """One value for every second in which there are any, at its beginning."""
    time_s, values = series
    seconds = numpy.ceil(time_s - 1e-9).astype(int) - 1
    known = numpy.unique(seconds)
    return known.astype(float), numpy.array([reduce(values[seconds == second]) for second in known], dtype=float)


@dataclass(frozen=True)
class _Step(_OverTime):
    def draw(self, name: str) -> str:
        path = self.path
        changes_s = path.changes_s
        origin_s = changes_s[0] if len(changes_s) == 1 else 0.0
        responses = []
        for title, run, flow in self.lines():
            reached_s = flow_metric(run, "time_to_90_s")
            responses.append(
                Response(
                    title,
                    run.stroke,
                    (flow.throughput_mbps[0] - origin_s, flow.throughput_mbps[1]),
                    (flow.srtt_ms[0] - origin_s, flow.srtt_ms[1]),
                    reached_s if reached_s is None or len(changes_s) == 1 else changes_s[-1] + reached_s,
                )
            )
        rate = path.rates_mbps
        target = Steps([time_s - origin_s for time_s in rate[0]], rate[1]) if rate else None
        mark = Steps(target.time_s, [_MARK * value for value in target.values]) if target else None
        rtt = path.base_rtts_ms
        base = Steps([time_s - origin_s for time_s in rtt[0]], rtt[1]) if rtt else None
        return step_figure(
            name,
            responses,
            target_mbps=target,
            mark_mbps=mark,
            base_rtt_ms=base,
            changes_s=[time_s - origin_s for time_s in changes_s],
        )


def flow_metric(run: Source, name: str) -> float | None:
    """A metric of the run's first flow."""
    return value_of(run.content["flows"][0], name) if run.content["flows"] else None


@dataclass(frozen=True)
class _Fairness(_OverTime):
    def draw(self, name: str) -> str:
        samples = _samples(self.runs[0])
        times = sorted({float(time_s) for flow in samples.flows for time_s in flow.throughput_mbps[0]})
        grid = numpy.array(times)
        shares = []
        names = flow_names([flow["scheme"] for flow in self.runs[0].content["flows"]])
        for flow in samples.flows[:MOST_FLOWS]:
            rates = numpy.zeros(len(grid))
            rates[numpy.searchsorted(grid, flow.throughput_mbps[0])] = flow.throughput_mbps[1]
            shares.append(Share(names[flow.flow - 1], flow_color(flow.flow), rates))
        return fairness_figure(name, grid, shares, samples.jain)


def operating_point(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """In flight, sRTT and throughput over time: all schemes where each has one flow, else each one's flows."""
    title = f"Operating point over time{place(found, cell)}"
    if _alone(found, cell):
        runs = tuple(sources(site, found, cell, found.labels))
        if runs:
            yield _OperatingPoint("operating-point", f"{title}: run 1 of each scheme", runs=runs)
        return
    for run in sources(site, found, cell, site.examined):
        heading = f"{title}: flows of {run.title}"
        yield _OperatingPoint("operating-point", heading, run.label, runs=(run,), every_flow=True)


def distribution(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """ECDFs of throughput and sRTT, a line for each scheme."""
    runs = tuple(sources(site, found, cell, found.labels))
    if runs:
        title = f"Distribution of the operating point{place(found, cell)}: run 1, flow 1 of each scheme"
        yield _Distributions("distribution", title, runs=runs)


def step(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """Throughput and sRTT around the path's changes."""
    runs = tuple(sources(site, found, cell, found.labels))
    if runs and describe(runs[0].specification["path"]).changes_s:
        yield _Step("step", f"Response to the change{place(found, cell)}: run 1, flow 1 of each scheme", runs=runs)


def calls(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """Video calls over time: all schemes where each has one flow, else each one's flows."""
    title = f"Rate against capacity, and frame delay{place(found, cell)}"
    if _alone(found, cell):
        runs = tuple(sources(site, found, cell, found.labels))
        if runs:
            yield _Calls("calls", f"{title}: run 1 of each scheme", runs=runs)
        return
    for run in sources(site, found, cell, found.labels):
        yield _Calls("calls", f"{title}: run 1, flows of {run.title}", run.label, runs=(run,), every_flow=True)


def fairness(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """Jain's index and shares over time, a figure for each scheme under test."""
    if _alone(found, cell):
        return
    for run in sources(site, found, cell, site.examined):
        yield _Fairness("fairness", f"Fairness over time{place(found, cell)}: {run.title}", run.label, runs=(run,))


def _alone(found: Findings, cell: MeasuredCell) -> bool:
    return all(cell.single(label) for label in found.labels)
