"""Metrics of schemes over days, one above the other: medians joined by lines, quartiles as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, value_limits
from dumbbell.present.plots.parts.panels import Curve, Panel, draw_panel
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.parts.style import paint
from dumbbell.present.plots.parts.svg import compact
from dumbbell.present.plots.sweep import long_tailed

Array = NDArray[Any]

_HEIGHT = 105.0
_BESIDE = 0.5  # share of the distance of two places over which the bars of all schemes are spread


@dataclass(frozen=True)
class TimedLine:
    """A scheme: medians and quartiles at places on the axis; NaN at a place without numbers."""

    label: str
    stroke: Stroke
    at: Array
    median: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class TimedPanel:
    """One metric; `label` includes its unit."""

    label: str
    lines: Sequence[TimedLine]


@dataclass(frozen=True)
class TimedAxis:
    """The time axis: its title, its limits, the distance of two places, and the places of numbers (None: automatic)."""

    label: str
    limits: tuple[float, float]
    step: float
    ticks: Sequence[float] | None = None


def over_time_figure(name: str, axis: TimedAxis, panels: Sequence[TimedPanel]) -> str:
    """Return the metrics as SVG."""
    with look(name):
        plot_frame = frame(*([_HEIGHT] * len(panels)))
        for axes, panel in zip(plot_frame.plots, panels, strict=True):
            lines = [_shift_line(line, axis.step, index, len(panel.lines)) for index, line in enumerate(panel.lines)]
            curves = [Curve(line.label, line.stroke, line.at, line.median) for line in lines]
            draw_panel(axes, Panel(panel.label, curves), axis.limits)
            for line in lines:
                apart = line.high > line.low
                at, low, high = line.at[apart], line.low[apart], line.high[apart]
                axes.vlines(at, low, high, color=paint(line.stroke.color), linewidth=0.9, zorder=2)
            ranges = [part for line in lines for part in (line.low, line.high)]
            ranges = [part[numpy.isfinite(part)] for part in ranges]
            if long_tailed(ranges):
                axes.set_yscale("log")
            elif any(len(part) for part in ranges):
                axes.set_ylim(*value_limits(ranges, from_zero=True))
            if axis.ticks is not None:
                axes.set_xticks(list(axis.ticks))
        plot_frame.finish([panel.label for panel in panels], LINES, (axis.label,))
        return compact(render(plot_frame.figure), name)


def _shift_line(line: TimedLine, step: float, index: int, count: int) -> TimedLine:
    """Return the line shifted beside those of the other schemes, if any of its places has a bar."""
    if not numpy.any(line.high > line.low):
        return line
    shift = _BESIDE * step * ((index + 0.5) / count - 0.5)
    return TimedLine(line.label, line.stroke, line.at + shift, line.median, line.low, line.high)
