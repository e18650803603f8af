"""Throughput as a share of an experiment's largest over mean queueing delay, a point for each scheme.

The design is that of figure 5 of the Copa paper (NSDI 2018) and figures 4, 5, 9 and 10 of its reproduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.present.plots.parts.axis import DelayAxis
from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import say_empty
from dumbbell.present.plots.parts.scatter import Scatter
from dumbbell.present.plots.parts.style import Style
from dumbbell.present.plots.parts.svg import Mark, compact

_AIR = 1.25  # factor of the delay axis, at each end


@dataclass(frozen=True)
class NormalisedPoint:
    """Values of one scheme: delay above zero, throughput from 0 to 1."""

    name: str
    queueing_delay_ms: float
    throughput: float
    style: Style


def normalised_figure(name: str, title: str, points: Sequence[NormalisedPoint]) -> str:
    """Return the points as SVG, with the delay logarithmic and reversed: up and right is better."""
    with look(name):
        scatter = Scatter(title)
        axes = scatter.axes
        axes.set_xlabel("Mean queueing delay (ms), decreasing, logarithmic")
        axes.set_ylabel("Throughput / largest of the experiment")
        delays = [point.queueing_delay_ms for point in points] or [1.0]
        DelayAxis(True, min(delays) / _AIR, max(delays) * _AIR, 0.0).apply(axes)
        axes.invert_xaxis()
        axes.set_ylim(0.0, 1.0)
        marks = {}
        for index, point in enumerate(points):
            scatter.point(point.queueing_delay_ms, point.throughput, point.style, f"point{index}")
            hover = f"{point.name}: {point.throughput:.3f}, {point.queueing_delay_ms:.2f} ms"
            marks[f"point{index}"] = Mark(hover, "", point.queueing_delay_ms, point.throughput)
        if not points:
            say_empty(axes)
        scatter.annotate([(point.queueing_delay_ms, point.throughput, point.name, point.style) for point in points])
        return compact(render(scatter.figure), name, marks)
