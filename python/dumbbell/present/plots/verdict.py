"""Utilisation over the delay that a scheme causes: a point for each scheme, over all that it was examined in."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.ticker import FuncFormatter

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import say_empty, tick_text
from dumbbell.present.plots.parts.scatter import Scatter
from dumbbell.present.plots.parts.style import INK, Style
from dumbbell.present.plots.parts.svg import Mark, compact


@dataclass(frozen=True)
class VerdictPoint:
    """One scheme: what part of the capacity it used, and the delay that its queue made, 95th percentile."""

    name: str
    utilization: float
    delay_ms: float
    style: Style


def verdict_figure(name: str, points: Sequence[VerdictPoint]) -> str:
    """The points as SVG, in percent over ms: the best place is the upper left corner."""
    with look(name):
        scatter = Scatter("")
        axes = scatter.axes
        axes.set_xlabel("Self-inflicted one-way delay, 95th percentile (ms)")
        axes.set_ylabel("Utilisation of the bottleneck (%)")
        marks = {}
        for index, point in enumerate(points):
            scatter.point(point.delay_ms, 100 * point.utilization, point.style, f"point{index}")
            said = f"{point.name}: {100 * point.utilization:.1f} %, {point.delay_ms:.1f} ms"
            marks[f"point{index}"] = Mark(said, "", point.delay_ms, 100 * point.utilization)
        axes.set_xlim(0, 1.15 * max((point.delay_ms for point in points), default=1.0) or 1.0)
        axes.set_ylim(0, 105)
        axes.axhline(100, color=INK, alpha=0.3, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(tick_text))
        if not points:
            say_empty(axes)
        scatter.annotate([(point.delay_ms, 100 * point.utilization, point.name, point.style) for point in points])
        return compact(render(scatter.figure), name, marks)
