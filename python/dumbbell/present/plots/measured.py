"""Simulated over measured values, with the line of equal values and the band of the tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import tick_text
from dumbbell.present.plots.parts.scatter import Scatter
from dumbbell.present.plots.parts.style import INK, SHADE, Style, paint
from dumbbell.present.plots.parts.svg import Mark, compact

_WIDE = 10.0
"""Minimum ratio of the largest to the smallest value for logarithmic axes."""
_AIR = 1.08


@dataclass(frozen=True)
class MeasuredPoint:
    """A run: the measured value, the mean of the simulated runs and their range; `title` is shown on hovering."""

    name: str
    style: Style
    measurement: float
    simulation: float
    low: float
    high: float
    title: str = ""


def measured_figure(name: str, title: str, unit: str, points: Sequence[MeasuredPoint], tolerance: float) -> str:
    """Return the figure as SVG; `tolerance` is the relative error up to which a simulated value counts as right.

    All values are above zero.
    """
    values = [value for point in points for value in (point.measurement, point.simulation)]
    smallest, largest = min(values), max(values)
    logarithmic = largest > _WIDE * smallest
    low, high = (smallest / _AIR, largest * _AIR) if logarithmic else (0.0, largest * _AIR)
    with look(name):
        scatter = Scatter(title)
        axes = scatter.axes
        if logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        line = numpy.geomspace(low, high, 50) if logarithmic else numpy.array([low, high])
        axes.fill_between(
            line, (1.0 - tolerance) * line, (1.0 + tolerance) * line, color=SHADE, linewidth=0, zorder=0.5
        )
        axes.plot(line, line, color=INK, alpha=0.6, linewidth=0.8, zorder=1)
        suffix = ", logarithmic" if logarithmic else ""
        axes.set_xlabel(f"Measured ({unit}){suffix}")
        axes.set_ylabel(f"Simulated ({unit}){suffix}")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(tick_text))
        marks = {}
        for index, point in enumerate(points):
            ends = [max(end, low) for end in (point.low, point.high)]
            color = paint(point.style.color)
            axes.plot([point.measurement] * 2, ends, color=color, linewidth=0.9, zorder=2)
            scatter.point(point.measurement, point.simulation, point.style, f"point{index}")
            marks[f"point{index}"] = Mark(point.title or point.name, "", point.measurement, point.simulation)
        equal = Line2D([], [], color=INK, alpha=0.6, linewidth=0.8, label="equal")
        band = Line2D([], [], color=SHADE, linewidth=6.0, label=f"within {100 * tolerance:.0f} %")
        scatter.explain([equal, band])
        scatter.legend({point.name: point.style for point in points})
        return compact(render(scatter.figure), name, marks)
