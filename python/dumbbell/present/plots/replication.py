"""Measured and emulated points side by side: throughput over 95th-percentile delay, as Pantheon draws its emulators.

Yan et al., USENIX ATC 2018, figure 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from dumbbell.present.plots.parts.axis import delay_axis
from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import tick_text
from dumbbell.present.plots.parts.scatter import MARKER, Scatter
from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import INK, Style
from dumbbell.present.plots.parts.svg import Mark, compact

_AIR = 1.05


@dataclass(frozen=True)
class ReplicationPoint:
    """A scheme as (delay in ms, throughput in Mbit/s): measured, and emulated or None if nothing arrived."""

    name: str
    style: Style
    measurement: tuple[float, float]
    emulation: tuple[float, float] | None


def replication_figure(name: str, title: str, points: Sequence[ReplicationPoint]) -> str:
    """Return the figure as SVG: filled markers are measured, hollow ones emulated, with a line between.

    Less delay is right. The emulated delays may be far off: the axis shows up to twice the largest measured delay.
    """
    delays = [point.measurement[0] for point in points]
    max_delay_ms = 2.0 * max(delays)
    shown_delays_ms = [min(point.emulation[0], max_delay_ms) for point in points if point.emulation]
    highest = max(rate for point in points for _, rate in (point.measurement, point.emulation or point.measurement))
    with look(name):
        axis = delay_axis([*delays, *shown_delays_ms])
        scatter = Scatter(title)
        scatter.axes.set_xlabel(f"95th percentile one-way delay (ms){', logarithmic' if axis.logarithmic else ''}")
        scatter.axes.set_ylabel("Average throughput (Mbit/s)")
        axis.apply(scatter.axes)
        scatter.axes.invert_xaxis()
        scatter.axes.set_ylim(0, _AIR * highest)
        scatter.axes.yaxis.set_major_formatter(FuncFormatter(tick_text))
        marks = {}
        for index, point in enumerate(points):
            marks[f"point{index}"] = Mark(f"{point.name}: measured {_text(point.measurement)}", "", *point.measurement)
            if point.emulation:
                x, y = min(point.emulation[0], max_delay_ms), point.emulation[1]
                color = point.style.color
                scatter.axes.plot(
                    [point.measurement[0], x], [point.measurement[1], y], color=color, linewidth=0.9, zorder=2
                )
                hollow = Style(color, point.style.marker, hollow=True)
                scatter.point(x, y, hollow, f"emulated{index}")
                hover = f"{point.name}: emulated {_text(point.emulation)}"
                marks[f"emulated{index}"] = Mark(hover, "", *point.emulation)
            scatter.point(*point.measurement, point.style, f"point{index}")
        scatter.explain(
            [
                Line2D([], [], linestyle="none", label=label, **marker_look(Style(INK, "o", hollow), MARKER))
                for label, hollow in (("measured", False), ("emulated", True))
            ]
        )
        scatter.legend({point.name: point.style for point in points})
        return compact(render(scatter.figure), name, marks)


def _text(point: tuple[float, float]) -> str:
    return f"{point[1]:.4g} Mbit/s, {point[0]:.4g} ms"
