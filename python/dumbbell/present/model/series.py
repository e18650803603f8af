"""From the series of a run to what the figures over time draw."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.present.plots import (
    Distribution,
    OperatingSeries,
    QueueSeries,
    Share,
    Stroke,
    Style,
    WindowSeries,
    flow_stroke,
    scheme_strokes,
)
from dumbbell.results.analysis.shares import flow_names
from dumbbell.results.series.samples import LinkSamples, RunSamples, Series


@dataclass(frozen=True)
class Line:
    """What a flow is called in a figure, and how it looks."""

    label: str
    stroke: Stroke


Lines = Mapping[int, Line]
"""By flow."""


def flow_labels(titles: Mapping[int, str]) -> dict[int, str]:
    """What flows are called in figures, by number, given the titles of their schemes: as in tables if these differ."""
    if len(set(titles.values())) < 2:
        return {flow: flow_label(flow) for flow in titles}
    return dict(zip(titles, flow_names(list(titles.values())), strict=True))


def flow_label(flow: int) -> str:
    """What a flow is called that has no name of its own."""
    return f"Flow {flow}"


def flow_lines(run: RunSamples, titles: Mapping[str, str], styles: Mapping[str, Style]) -> dict[int, Line]:
    """Flows are called and drawn as their schemes if these all differ, else drawn by their numbers.

    `titles` and `styles` are those of schemes.
    """
    schemes = [flow.scheme for flow in run.flows]
    if len(set(schemes)) == len(schemes):
        strokes = scheme_strokes([styles[scheme] for scheme in schemes])
        return {flow.flow: Line(titles[flow.scheme], stroke) for flow, stroke in zip(run.flows, strokes, strict=True)}
    return numbered_lines(flow_labels({flow.flow: titles[flow.scheme] for flow in run.flows}))


def numbered_lines(labels: Mapping[int, str]) -> dict[int, Line]:
    """Flows with these names, drawn by their numbers."""
    return {flow: Line(label, flow_stroke(flow)) for flow, label in labels.items()}


def operating_series(run: RunSamples, lines: Lines) -> list[OperatingSeries]:
    """For `operating_point_figure`."""
    return [
        OperatingSeries(*_of(lines, flow.flow), flow.in_flight_segments, flow.srtt_ms, flow.throughput_mbps)
        for flow in run.flows
    ]


def distributions(run: RunSamples, lines: Lines) -> list[Distribution]:
    """For `distribution_figure`: every sample counts the same."""
    return [Distribution(*_of(lines, flow.flow), flow.throughput_mbps[1], flow.srtt_ms[1]) for flow in run.flows]


def window_series(run: RunSamples, lines: Lines) -> list[WindowSeries]:
    """For `window_figure`."""
    return [
        WindowSeries(*_of(lines, flow.flow), *map(_some, (flow.cwnd_packets, flow.ssthresh_packets, flow.pacing_mbps)))
        for flow in run.flows
    ]


def queue_series(run: RunSamples, label: str, stroke: Stroke) -> QueueSeries | None:
    """The bottleneck for `queue_figure`; None for a run without links."""
    if not run.links:
        return None
    return queue_of(run.links[0], label, stroke)


def queue_of(link: LinkSamples, label: str, stroke: Stroke) -> QueueSeries:
    """One link for `queue_figure`."""
    return QueueSeries(label, stroke, link.queue_packets, link.drops_packets, _some(link.marks_packets))


def shares(run: RunSamples, lines: Lines) -> tuple[NDArray[Any], list[Share]]:
    """For `fairness_figure`: the ends of the run's intervals, and the throughput of each flow in them."""
    # flows that start or stop within an interval have their part of it there
    numbers = [numpy.ceil(flow.throughput_mbps[0] / run.interval_s - 1e-6).astype(int) for flow in run.flows]
    first = min((int(each.min()) for each in numbers if len(each)), default=1)
    last = max((int(each.max()) for each in numbers if len(each)), default=0)
    found = []
    for flow, intervals in zip(run.flows, numbers, strict=True):
        rates = numpy.zeros(last - first + 1)
        rates[intervals - first] = flow.throughput_mbps[1]
        found.append(Share(lines[flow.flow].label, lines[flow.flow].stroke.color, rates))
    return numpy.arange(first, last + 1) * run.interval_s, found


def _of(lines: Lines, flow: int) -> tuple[str, Stroke]:
    return lines[flow].label, lines[flow].stroke


def _some(series: Series) -> Series | None:
    return series if len(series[0]) else None
