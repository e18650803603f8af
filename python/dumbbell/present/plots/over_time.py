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
_BESIDE = 0.5  # of the distance of two places: bars of the schemes that would hide each other stand side by side


@dataclass(frozen=True)
class TimedLine:
    """A scheme: medians and quartiles at places on the axis; a place without numbers is no number (NaN)."""

    label: str
    stroke: Stroke
    at: Array
    median: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class TimedPanel:
    """One metric; `label` has its unit."""

    label: str
    lines: Sequence[TimedLine]


@dataclass(frozen=True)
class TimedAxis:
    """The axis: its name, its limits, the distance of two places, and where numbers stand (None: where they fit)."""

    label: str
    limits: tuple[float, float]
    step: float
    ticks: Sequence[float] | None = None


def over_time_figure(name: str, axis: TimedAxis, panels: Sequence[TimedPanel]) -> str:
    """The metrics as SVG."""
    with look(name):
        framed = frame(*([_HEIGHT] * len(panels)))
        for axes, panel in zip(framed.plots, panels, strict=True):
            lines = [_shifted(line, axis.step, index, len(panel.lines)) for index, line in enumerate(panel.lines)]
            curves = [Curve(line.label, line.stroke, line.at, line.median) for line in lines]
            draw_panel(axes, Panel(panel.label, curves), axis.limits)
            for line in lines:
                apart = line.high > line.low
                at, low, high = line.at[apart], line.low[apart], line.high[apart]
                axes.vlines(at, low, high, color=paint(line.stroke.color), linewidth=0.9, zorder=2)
            known = [part for line in lines for part in (line.low, line.high)]
            known = [part[numpy.isfinite(part)] for part in known]
            if long_tailed(known):
                axes.set_yscale("log")
            elif any(len(part) for part in known):
                axes.set_ylim(*value_limits(known, from_zero=True))
            if axis.ticks is not None:
                axes.set_xticks(list(axis.ticks))
        framed.finish([panel.label for panel in panels], LINES, (axis.label,))
        return compact(render(framed.figure), name)


def _shifted(line: TimedLine, step: float, index: int, count: int) -> TimedLine:
    """The line beside those of the other schemes, if any of its places has a bar."""
    if not numpy.any(line.high > line.low):
        return line
    shift = _BESIDE * step * ((index + 0.5) / count - 0.5)
    return TimedLine(line.label, line.stroke, line.at + shift, line.median, line.low, line.high)
