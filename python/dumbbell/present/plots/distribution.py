"""Distributions as eCDFs: the Operating Point (throughput, smoothed RTT; ccperf.net, experiment #15), and delays."""

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
from dumbbell.present.plots.parts.strokes import Stroke, line_look, marker_indices
from dumbbell.present.plots.parts.svg import Mark, compact


@dataclass(frozen=True)
class Distribution:
    """Samples of one flow or one scheme, in any order."""

    label: str
    stroke: Stroke
    throughput_mbps: NDArray[Any]
    srtt_ms: NDArray[Any]


@dataclass(frozen=True)
class DelaySteps:
    """eCDF of one flow's delays, in ascending order: `part` of its packets took at most `delay_ms`."""

    label: str
    stroke: Stroke
    delay_ms: NDArray[Any]
    part: NDArray[Any]


@dataclass(frozen=True)
class EcdfLine:
    """Values of a scheme, in ascending order."""

    label: str
    stroke: Stroke
    values: NDArray[Any]
    scheme: str = ""


def ecdf_figure(name: str, lines: Sequence[EcdfLine], axis: PlaneAxis) -> str:
    """Draw the eCDF of a metric as SVG, with a line for each scheme."""
    with look(name):
        plot_frame = frame(165.0)
        axes = plot_frame.plots[0]
        axis.apply(axes)
        axes.set_ylim(0, 1.02)
        marks = {}
        for index, line in enumerate(lines):
            part = numpy.arange(1, len(line.values) + 1) / max(len(line.values), 1)
            artist = _steps(axes, line.label, line.stroke, (line.values, part), (index, len(lines)))
            artist.set_gid(f"line{index}")
            marks[f"line{index}"] = Mark(line.label, line.scheme)
        if not lines:
            say_empty(axes)
        plot_frame.finish(["eCDF"], LINES, (axis.label,))
        return compact(render(plot_frame.figure), name, marks)


def delay_cdf_figure(name: str, flows: Sequence[DelaySteps], axis: DelayAxis, delay_name: str = "One-way delay") -> str:
    """Draw the eCDFs of delays as SVG, with a line for each flow."""
    with look(name):
        plot_frame = frame(165.0)
        axes = plot_frame.plots[0]
        axis.apply(axes)
        axes.set_ylim(0, 1.02)
        for index, flow in enumerate(flows):
            _steps(axes, flow.label, flow.stroke, (flow.delay_ms, flow.part), (index, len(flows)))
        if not any(len(flow.delay_ms) for flow in flows):
            say_empty(axes)
        plot_frame.finish(["eCDF"], LINES, (f"{delay_name} (ms){', logarithmic' if axis.logarithmic else ''}",))
        return compact(render(plot_frame.figure), name)


def distribution_figure(name: str, distributions: Sequence[Distribution]) -> str:
    """Draw the eCDFs of throughput and smoothed RTT as SVG, in two plots."""
    with look(name):
        plot_frame = frame(125.0, 125.0, own_x=True)
        _ecdfs(
            plot_frame.plots[0],
            [(distribution.label, distribution.stroke, distribution.throughput_mbps) for distribution in distributions],
            True,
        )
        _ecdfs(
            plot_frame.plots[1],
            [(distribution.label, distribution.stroke, distribution.srtt_ms) for distribution in distributions],
            False,
        )
        plot_frame.finish(["eCDF", "eCDF"], LINES, ("Throughput (Mbit/s)", "sRTT (ms)"))
        return compact(render(plot_frame.figure), name)


def _ecdfs(axes: Axes, samples: Sequence[tuple[str, Stroke, NDArray[Any]]], from_zero: bool) -> None:
    finite_samples = [(label, stroke, numpy.sort(values[numpy.isfinite(values)])) for label, stroke, values in samples]
    axes.set_xlim(*value_limits([values for _, _, values in finite_samples], from_zero))
    axes.set_ylim(0, 1.02)
    for index, (label, stroke, values) in enumerate(finite_samples):
        part = numpy.arange(1, len(values) + 1) / max(len(values), 1)
        _steps(axes, label, stroke, (values, part), (index, len(finite_samples)))
    if not any(len(values) for _, _, values in finite_samples):
        say_empty(axes)


def _steps(
    axes: Axes, label: str, stroke: Stroke, steps: tuple[NDArray[Any], NDArray[Any]], place: tuple[int, int]
) -> Line2D:
    """Draw line `place[0]` of `place[1]`, from the lower to the right edge; without values only its legend entry."""
    values, part = steps
    if not len(values):
        return axes.plot([], [], label=label, **line_look(stroke))[0]
    x, y = numpy.concatenate([[values[0]], values, [axes.get_xlim()[1]]]), numpy.concatenate([[0.0], part, [1.0]])
    every = marker_indices(y, (0.0, 1.0), *place)  # markers are evenly spaced over the height, where most samples are
    return axes.plot(x, y, label=label, drawstyle="steps-post", markevery=every, **line_look(stroke))[0]
