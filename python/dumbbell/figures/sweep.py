"""Sweeps: metrics over the values of one axis, a line for each scheme."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from matplotlib.axes import Axes

from dumbbell.figures.canvas import look, render
from dumbbell.figures.frame import LINES, frame, say_empty, value_limits
from dumbbell.figures.strokes import Stroke, line_look
from dumbbell.figures.svg import compact

_MOST_TICKS = 14
_SPREAD = 0.3  # of the distance of two values: points of the schemes that would hide each other stand side by side


@dataclass(frozen=True)
class SweepLine:
    """One scheme: its metric at each value of the axis; None where there is none; intervals as (low, high)."""

    label: str
    stroke: Stroke
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()


@dataclass(frozen=True)
class SweepPanel:
    """One metric; `label` has its unit. `logarithmic` is for values above 0 only: others are left out."""

    label: str
    lines: Sequence[SweepLine]
    from_zero: bool = True
    logarithmic: bool = False


def sweep_figure(name: str, axis: str, values: Sequence[str], panels: Sequence[SweepPanel]) -> str:
    """The metrics one above the other as SVG; the `values` of the axis stand at even distances, in their order.

    Values that are no quantities (names of queues, say) have nothing between them: no lines join their points.
    """
    joined = all(value[:1].isdigit() for value in values)
    with look(name):
        framed = frame(*([125.0] * len(panels)))
        for axes, panel in zip(framed.plots, panels, strict=True):
            axes.set_xlim(-0.5, max(len(values), 1) - 0.5)
            _draw(axes, panel, joined)
        framed.finish([panel.label for panel in panels], LINES, (axis,))
        every = -(-len(values) // _MOST_TICKS) or 1
        for axes in framed.plots:
            axes.set_xticks(range(0, len(values), every), [])
        framed.plots[-1].set_xticks(range(0, len(values), every), list(values[::every]))
        return compact(render(framed.figure), name)


def _draw(axes: Axes, panel: SweepPanel, joined: bool) -> None:
    known = []
    beside = not joined or any(any(line.intervals) for line in panel.lines)
    for index, line in enumerate(panel.lines):
        y = numpy.array([numpy.nan if value is None else value for value in line.values], dtype=float)
        if panel.logarithmic:
            y[~(y > 0)] = numpy.nan
        known.append(y[numpy.isfinite(y)])
        shift = _SPREAD * ((index + 0.5) / len(panel.lines) - 0.5) if beside else 0.0
        x = numpy.arange(len(y)) + shift
        drawn = line_look(line.stroke) | ({} if joined else {"linestyle": "none"})
        axes.plot(x, y, label=line.label, zorder=3, **drawn)
        for at, interval in zip(x, line.intervals, strict=False):
            if interval:
                axes.plot([at, at], interval, color=line.stroke.color, linewidth=0.9, zorder=2)
                known.append(numpy.array(interval, dtype=float))
    if panel.logarithmic and any(len(values) for values in known):
        axes.set_yscale("log")
        return
    axes.set_ylim(*value_limits(known, panel.from_zero))
    if not any(len(values) for values in known):
        say_empty(axes)
