"""Distributions as eCDFs: of the Operating Point (throughput, smoothed RTT; ccperf.net, experiment #15), of delays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from dumbbell.present.plots.parts.axis import DelayAxis, PlaneAxis
from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty, value_limits
from dumbbell.present.plots.parts.strokes import Stroke, line_look, marked
from dumbbell.present.plots.parts.svg import Mark, compact


@dataclass(frozen=True)
class Distribution:
    """The samples of one flow or one scheme, in any order."""

    label: str
    stroke: Stroke
    throughput_mbps: NDArray[Any]
    srtt_ms: NDArray[Any]


@dataclass(frozen=True)
class DelaySteps:
    """The eCDF of one flow's delays, upwards: `part` of its packets took at most `delay_ms`."""

    label: str
    stroke: Stroke
    delay_ms: NDArray[Any]
    part: NDArray[Any]


@dataclass(frozen=True)
class EcdfLine:
    """The values of a scheme, upwards."""

    label: str
    stroke: Stroke
    values: NDArray[Any]
    scheme: str = ""


def ecdf_figure(name: str, lines: Sequence[EcdfLine], axis: PlaneAxis) -> str:
    """Draw the eCDF of a metric as SVG, a line for each scheme: which part of its values is at most so large."""
    with look(name):
        framed = frame(165.0)
        axes = framed.plots[0]
        axis.apply(axes)
        axes.set_ylim(0, 1.02)
        marks = {}
        for index, line in enumerate(lines):
            part = numpy.arange(1, len(line.values) + 1) / max(len(line.values), 1)
            drawn = _steps(axes, line.label, line.stroke, (line.values, part), (index, len(lines)))
            drawn.set_gid(f"line{index}")
            marks[f"line{index}"] = Mark(line.label, line.scheme)
        if not lines:
            say_empty(axes)
        framed.finish(["eCDF"], LINES, (axis.label,))
        return compact(render(framed.figure), name, marks)


def delay_cdf_figure(name: str, flows: Sequence[DelaySteps], axis: DelayAxis, what: str = "One-way delay") -> str:
    """Draw the eCDFs of delays as SVG, a line for each flow: which part of its packets took at most so many ms."""
    with look(name):
        framed = frame(165.0)
        axes = framed.plots[0]
        axis.apply(axes)
        axes.set_ylim(0, 1.02)
        for index, flow in enumerate(flows):
            _steps(axes, flow.label, flow.stroke, (flow.delay_ms, flow.part), (index, len(flows)))
        if not any(len(flow.delay_ms) for flow in flows):
            say_empty(axes)
        framed.finish(["eCDF"], LINES, (f"{what} (ms){', logarithmic' if axis.logarithmic else ''}",))
        return compact(render(framed.figure), name)


def distribution_figure(name: str, distributions: Sequence[Distribution]) -> str:
    """Two plots as SVG: which part of the samples is at most so large."""
    with look(name):
        framed = frame(125.0, 125.0, own_x=True)
        _ecdfs(framed.plots[0], [(each.label, each.stroke, each.throughput_mbps) for each in distributions], True)
        _ecdfs(framed.plots[1], [(each.label, each.stroke, each.srtt_ms) for each in distributions], False)
        framed.finish(["eCDF", "eCDF"], LINES, ("Throughput (Mbit/s)", "sRTT (ms)"))
        return compact(render(framed.figure), name)


def _ecdfs(axes: Axes, samples: Sequence[tuple[str, Stroke, NDArray[Any]]], from_zero: bool) -> None:
    cleaned = [(label, stroke, numpy.sort(values[numpy.isfinite(values)])) for label, stroke, values in samples]
    axes.set_xlim(*value_limits([values for _, _, values in cleaned], from_zero))
    axes.set_ylim(0, 1.02)
    for index, (label, stroke, values) in enumerate(cleaned):
        part = numpy.arange(1, len(values) + 1) / max(len(values), 1)
        _steps(axes, label, stroke, (values, part), (index, len(cleaned)))
    if not any(len(values) for _, _, values in cleaned):
        say_empty(axes)


def _steps(
    axes: Axes, label: str, stroke: Stroke, steps: tuple[NDArray[Any], NDArray[Any]], place: tuple[int, int]
) -> Line2D:
    """Line `place[0]` of `place[1]`, from the lower to the right edge of the plot; one without values in the legend."""
    values, part = steps
    if not len(values):
        return axes.plot([], [], label=label, **line_look(stroke))[0]
    x, y = numpy.concatenate([[values[0]], values, [axes.get_xlim()[1]]]), numpy.concatenate([[0.0], part, [1.0]])
    every = marked(y, (0.0, 1.0), *place)  # evenly over the height: where most samples are
    return axes.plot(x, y, label=label, drawstyle="steps-post", markevery=every, **line_look(stroke))[0]
