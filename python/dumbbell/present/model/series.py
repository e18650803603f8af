"""Conversion of the series of a run to the inputs of figures over time."""

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
    """Label and stroke of a flow in a figure."""

    label: str
    stroke: Stroke


Lines = Mapping[int, Line]
"""Lines by flow."""


def flow_labels(titles: Mapping[int, str]) -> dict[int, str]:
    """Return labels of flows by number: names as in tables if the `titles` of their schemes differ."""
    if len(set(titles.values())) < 2:
        return {flow: flow_label(flow) for flow in titles}
    return dict(zip(titles, flow_names(list(titles.values())), strict=True))


def flow_label(flow: int) -> str:
    """Return the label of a flow that has no name."""
    return f"Flow {flow}"


def flow_lines(run: RunSamples, titles: Mapping[str, str], styles: Mapping[str, Style]) -> dict[int, Line]:
    """Return the lines of flows, named and drawn as their schemes if these all differ, otherwise drawn by number.

    `titles` and `styles` are those of schemes.
    """
    schemes = [flow.scheme for flow in run.flows]
    if len(set(schemes)) == len(schemes):
        strokes = scheme_strokes([styles[scheme] for scheme in schemes])
        return {flow.flow: Line(titles[flow.scheme], stroke) for flow, stroke in zip(run.flows, strokes, strict=True)}
    return numbered_lines(flow_labels({flow.flow: titles[flow.scheme] for flow in run.flows}))


def numbered_lines(labels: Mapping[int, str]) -> dict[int, Line]:
    """Return lines with these labels, drawn by number."""
    return {flow: Line(label, flow_stroke(flow)) for flow, label in labels.items()}


def operating_series(run: RunSamples, lines: Lines) -> list[OperatingSeries]:
    """Return the series for `operating_point_figure`."""
    return [
        OperatingSeries(
            *_label_and_stroke(lines, flow.flow), flow.in_flight_segments, flow.srtt_ms, flow.throughput_mbps
        )
        for flow in run.flows
    ]


def distributions(run: RunSamples, lines: Lines) -> list[Distribution]:
    """Return the samples for `distribution_figure`; all samples have equal weight."""
    return [
        Distribution(*_label_and_stroke(lines, flow.flow), flow.throughput_mbps[1], flow.srtt_ms[1])
        for flow in run.flows
    ]


def window_series(run: RunSamples, lines: Lines) -> list[WindowSeries]:
    """Return the series for `window_figure`."""
    return [
        WindowSeries(
            *_label_and_stroke(lines, flow.flow),
            *map(_or_none, (flow.cwnd_packets, flow.ssthresh_packets, flow.pacing_mbps)),
        )
        for flow in run.flows
    ]


def queue_series(run: RunSamples, label: str, stroke: Stroke) -> QueueSeries | None:
    """Return the bottleneck for `queue_figure`; None for a run without links."""
    if not run.links:
        return None
    return queue_of(run.links[0], label, stroke)


def queue_of(link: LinkSamples, label: str, stroke: Stroke) -> QueueSeries:
    """Return one link for `queue_figure`."""
    return QueueSeries(label, stroke, link.queue_packets, link.drops_packets, _or_none(link.marks_packets))


def shares(run: RunSamples, lines: Lines) -> tuple[NDArray[Any], list[Share]]:
    """Return the inputs of `fairness_figure`: ends of the run's intervals, and each flow's throughput in them."""
    # the partial interval of a flow that starts or stops counts in the whole interval around it
    numbers = [numpy.ceil(flow.throughput_mbps[0] / run.interval_s - 1e-6).astype(int) for flow in run.flows]
    first = min((int(interval_numbers.min()) for interval_numbers in numbers if len(interval_numbers)), default=1)
    last = max((int(interval_numbers.max()) for interval_numbers in numbers if len(interval_numbers)), default=0)
    flow_shares = []
    for flow, intervals in zip(run.flows, numbers, strict=True):
        rates = numpy.zeros(last - first + 1)
        rates[intervals - first] = flow.throughput_mbps[1]
        flow_shares.append(Share(lines[flow.flow].label, lines[flow.flow].stroke.color, rates))
    return numpy.arange(first, last + 1) * run.interval_s, flow_shares


def _label_and_stroke(lines: Lines, flow: int) -> tuple[str, Stroke]:
    return lines[flow].label, lines[flow].stroke


def _or_none(series: Series) -> Series | None:
    return series if len(series[0]) else None
