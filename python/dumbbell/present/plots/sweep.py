"""Sweeps: metrics over the values of one axis, a line for each scheme."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty, value_limits
from dumbbell.present.plots.parts.strokes import Stroke, line_look
from dumbbell.present.plots.parts.style import paint
from dumbbell.present.plots.parts.svg import Mark, compact

_MOST_TICKS = 14
_WIDE_RANGE = 10.0
_LONG_TAIL = 30.0
"""Values of which the largest is so many times the smallest stand on a logarithmic axis."""
_SPREAD = 0.3  # of the distance of two values: points of the schemes that would hide each other stand side by side


@dataclass(frozen=True)
class SweepLine:
    """One scheme: its metric at each value of the axis; None where there is none; intervals as (low, high)."""

    label: str
    stroke: Stroke
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()
    scheme: str = ""


@dataclass(frozen=True)
class SweepPanel:
    """One metric; `label` has its unit. `logarithmic` is for values above 0 only: others are left out."""

    label: str
    lines: Sequence[SweepLine]
    from_zero: bool = True
    logarithmic: bool = False


def sweep_figure(name: str, axis: str, values: Sequence[str], panels: Sequence[SweepPanel]) -> str:
    """The metrics one above the other as SVG.

    Quantities stand where they are, on a logarithmic axis if the largest is more than ten times the smallest. Values
    that are none (names of queues, say) stand at even distances, and no lines join their points.
    """
    places = quantities(values)
    with look(name):
        framed = frame(*([125.0] * len(panels)))
        marks = {}
        for number, (axes, panel) in enumerate(zip(framed.plots, panels, strict=True)):
            spots = places or Places([float(index) for index in range(len(values))], None)
            for index, (line, drawn) in enumerate(zip(panel.lines, _draw(axes, panel, spots), strict=True)):
                drawn.set_gid(f"line{number}-{index}")
                marks[f"line{number}-{index}"] = Mark(line.label, line.scheme)
        labels = [
            f"{each.label}{', logarithmic' * (plot.get_yscale() == 'log')}"
            for each, plot in zip(panels, framed.plots, strict=True)
        ]
        framed.finish(labels, LINES, (f"{axis}{', logarithmic' * bool(places and places.logarithmic)}",))
        at = places.at if places else [float(index) for index in range(len(values))]
        shown = _apart(at, bool(places and places.logarithmic))
        for axes in framed.plots:
            axes.set_xticks([at[index] for index in shown], [])
            axes.minorticks_off()
        framed.plots[-1].set_xticks([at[index] for index in shown], [values[index] for index in shown])
        return compact(render(framed.figure), name, marks)


_LEAST_STEPS = 4
"""Fewer values are shifted as if they were so many: their distance is larger than the margins of the axis."""


@dataclass(frozen=True)
class Places:
    """Where values stand; `logarithmic` is None for those that are no quantities."""

    at: list[float]
    logarithmic: bool | None

    def margins(self) -> tuple[float, float]:
        """The limits of the axis."""
        if self.logarithmic is None or len(self.at) < 2:
            return (min(self.at, default=0.0) - 0.5, max(self.at, default=0.0) + 0.5)
        low, high = min(self.at), max(self.at)
        if self.logarithmic:
            part = (high / low) ** 0.05
            return (low / part, high * part)
        return (low - 0.05 * (high - low), high + 0.05 * (high - low))

    def beside(self, step: float) -> list[float]:
        """Return the places, each shifted by a part of the distance to its neighbours, within the axis's limits."""
        if self.logarithmic is None or len(self.at) < 2:
            return [place + step for place in self.at]
        low, high = self.margins()
        part = step / max(len(self.at), _LEAST_STEPS)
        if self.logarithmic:
            return [place * (high / low) ** part for place in self.at]
        return [place + part * (high - low) for place in self.at]


def quantities(values: Sequence[str]) -> Places | None:
    """The numbers that all values begin with, of one unit; None if they are no quantities, or some are equal."""
    found = [re.fullmatch(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\d\s]*)", value) for value in values]
    numbers = [float(match[1]) for match in found if match]
    if len(numbers) < len(values) or len({match[2] for match in found if match}) > 1 or len(set(numbers)) < len(values):
        return None
    return Places(numbers, min(numbers, default=0.0) > 0 and max(numbers) > _WIDE_RANGE * min(numbers))


def _apart(at: Sequence[float], logarithmic: bool) -> list[int]:
    """The places whose names do not touch each other."""
    if not at:
        return []
    along = numpy.log(at) if logarithmic else numpy.asarray(at)
    least = (along.max() - along.min()) / _MOST_TICKS
    kept: list[int] = []
    for index in numpy.argsort(along):
        if not kept or along[index] - along[kept[-1]] >= least:
            kept.append(int(index))
    return kept


def long_tailed(known: Sequence[numpy.ndarray[Any, Any]]) -> bool:
    """Whether a linear axis would press most of the values to its foot: all above 0, some far above."""
    values = numpy.concatenate([each.ravel() for each in known]) if known else numpy.array([])
    return bool(len(values) and values.min() > 0 and values.max() > _LONG_TAIL * numpy.median(values))


def _draw(axes: Axes, panel: SweepPanel, places: Places) -> list[Line2D]:
    known = []
    lines = []
    joined = places.logarithmic is not None
    if places.logarithmic:
        axes.set_xscale("log")
    axes.set_xlim(*places.margins())
    beside = not joined or any(any(line.intervals) for line in panel.lines)
    for index, line in enumerate(panel.lines):
        y = numpy.array([numpy.nan if value is None else value for value in line.values], dtype=float)
        if panel.logarithmic:
            y[~(y > 0)] = numpy.nan
        known.append(y[numpy.isfinite(y)])
        shift = _SPREAD * ((index + 0.5) / len(panel.lines) - 0.5) if beside else 0.0
        x = numpy.array(places.beside(shift))
        drawn = line_look(line.stroke) | ({} if joined else {"linestyle": "none"})
        lines += axes.plot(x, y, label=line.label, zorder=3, **drawn)
        for at, interval in zip(x, line.intervals, strict=False):
            if interval:
                axes.plot([at, at], interval, color=paint(line.stroke.color), linewidth=0.9, zorder=2)
                known.append(numpy.array(interval, dtype=float))
    if (panel.logarithmic or long_tailed(known)) and any(len(values) for values in known):
        axes.set_yscale("log")
        return lines
    axes.set_ylim(*value_limits(known, panel.from_zero))
    if not any(len(values) for values in known):
        say_empty(axes)
    return lines
