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
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.strokes import Stroke, line_look
from dumbbell.present.plots.parts.style import paint
from dumbbell.present.plots.parts.svg import Mark, compact

_LETTER = 5.5  # points along the axis that a letter of a value takes
_WIDE_RANGE = 4.0  # of quantities on a logarithmic axis, the largest over the smallest
_FURTHER = 1.05  # the smallest distance over the whole range, on a logarithmic axis over that on a linear one
_LONG_TAIL = 30.0
"""Values of which the largest is so many times the smallest stand on a logarithmic axis."""
_STEP, _SPREAD = 4.0, 0.3
"""Bars that would hide each other stand so many points apart; all take at most this part of the distance of values."""


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


def sweep_figure(
    name: str,
    axis: str,
    values: Sequence[str],
    panels: Sequence[SweepPanel],
    columns: Sequence[str] = (),
    note: str = "",
) -> str:
    """The metrics one above the other as SVG, with a `note` above them all.

    With `columns`, the names of groups, each metric has a panel for each of them, side by side and over the same range;
    `panels` has those of the first metric, then those of the next one.

    Quantities stand where they are, on a logarithmic axis if that sets those of a wide range further apart. Values that
    are none (names of queues, say) stand at even distances, and no lines join their points.
    """
    places = quantities(values)
    across = max(len(columns), 1)
    rows = [panels[index : index + across] for index in range(0, len(panels), across)]
    with look(name):
        framed = frame(*([125.0] * len(rows)), columns=across, note=note)
        spots = places or Places([float(index) for index in range(len(values))], None)
        width = framed.size(0)[0]
        marks = {}
        for number, (axes, panel) in enumerate(zip(framed.plots, panels, strict=True)):
            for index, (line, drawn) in enumerate(zip(panel.lines, _draw(axes, panel, spots, width), strict=True)):
                drawn.set_gid(f"line{number}-{index}")
                marks[f"line{number}-{index}"] = Mark(line.label, line.scheme)
        for plot, title in zip(framed.plots, columns, strict=False):
            plot.set_title(title, fontsize=sheet().letters(9.0), pad=3.0)
        for index, row in enumerate(rows):
            _scale(framed.plots[across * index : across * (index + 1)], row)
        labels = [
            f"{row[0].label}{', logarithmic' * (plot.get_yscale() == 'log')}"
            for row, plot in zip(rows, framed.first, strict=True)
        ]
        room = _LETTER * max(map(len, values), default=1) + _LETTER
        shown = _apart(spots.at, bool(spots.logarithmic), max(width / room, 1.0))
        at, names = [spots.at[index] for index in shown], [values[index] for index in shown]
        for index, axes in enumerate(framed.plots):
            axes.set_xticks(at, names if index >= len(panels) - across else [])
            axes.minorticks_off()
        framed.finish(labels, LINES, (f"{axis}{', logarithmic' * bool(spots.logarithmic)}",))
        for index, axes in enumerate(framed.plots):
            if index % across:
                axes.tick_params(labelleft=False)
        return compact(render(framed.figure), name, marks)


_MARGIN = 0.09  # of the range of the values, at both ends of the axis
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
            part = (high / low) ** _MARGIN
            return (low / part, high * part)
        return (low - _MARGIN * (high - low), high + _MARGIN * (high - low))

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
    return Places(numbers, _is_logarithmic(numbers))


def _is_logarithmic(numbers: Sequence[float]) -> bool:
    """Return whether quantities of a wide range stand further apart on a logarithmic axis."""
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if low <= 0 or high < _WIDE_RANGE * low:
        return False
    linear, logarithmic = numpy.array(sorted(numbers)), numpy.log(sorted(numbers))
    gaps = [numpy.diff(each).min() / (each[-1] - each[0]) for each in (linear, logarithmic)]
    return bool(gaps[1] > gaps[0] * _FURTHER)


def _apart(at: Sequence[float], logarithmic: bool, most: float) -> list[int]:
    """The places whose names do not touch each other where about so many have room."""
    if not at:
        return []
    along = numpy.log(at) if logarithmic else numpy.asarray(at)
    least = (along.max() - along.min()) / most
    kept: list[int] = []
    for index in numpy.argsort(along):
        if not kept or along[index] - along[kept[-1]] >= least:
            kept.append(int(index))
    return kept


def long_tailed(known: Sequence[numpy.ndarray[Any, Any]]) -> bool:
    """Whether a linear axis would press most of the values to its foot: all above 0, some far above."""
    values = numpy.concatenate([each.ravel() for each in known]) if known else numpy.array([])
    return bool(len(values) and values.min() > 0 and values.max() > _LONG_TAIL * numpy.median(values))


def _draw(axes: Axes, panel: SweepPanel, places: Places, width: float) -> list[Line2D]:
    """Draws the lines of a panel that is `width` points wide."""
    lines = []
    joined = places.logarithmic is not None
    if places.logarithmic:
        axes.set_xscale("log")
    axes.set_xlim(*places.margins())
    beside = not joined or any(any(line.intervals) for line in panel.lines)
    steps = max(len(places.at), _LEAST_STEPS)
    spread = min(_SPREAD, _STEP * len(panel.lines) * steps / width) if joined else _SPREAD
    for index, line in enumerate(panel.lines):
        shift = spread * ((index + 0.5) / len(panel.lines) - 0.5) if beside else 0.0
        x = numpy.array(places.beside(shift))
        drawn = line_look(line.stroke) | ({} if joined else {"linestyle": "none"})
        lines += axes.plot(x, _values(panel, line), label=line.label, zorder=3, **drawn)
        for at, interval in zip(x, line.intervals, strict=False):
            if interval:
                axes.plot([at, at], interval, color=paint(line.stroke.color), linewidth=0.9, zorder=2)
    return lines


def _values(panel: SweepPanel, line: SweepLine) -> numpy.ndarray[Any, Any]:
    """The values that are drawn of a line, not a number where there is none."""
    y = numpy.array([numpy.nan if value is None else value for value in line.values], dtype=float)
    if panel.logarithmic:
        y[~(y > 0)] = numpy.nan
    return y


def _scale(plots: Sequence[Axes], panels: Sequence[SweepPanel]) -> None:
    """Gives the plots of a row the same axis upwards: one on which all of their values can be told apart."""
    drawn = [_values(panel, line) for panel in panels for line in panel.lines]
    known = [y[numpy.isfinite(y)] for y in drawn]
    known += [
        numpy.array(bar, dtype=float) for panel in panels for line in panel.lines for bar in line.intervals if bar
    ]
    empty = not any(len(values) for values in known)
    logarithmic = not empty and (panels[0].logarithmic or long_tailed(known))
    for plot in plots:
        if logarithmic:
            plot.set_yscale("log")
        else:
            plot.set_ylim(*value_limits(known, panels[0].from_zero))
        if empty:
            say_empty(plot)
    if logarithmic:
        limits = [plot.get_ylim() for plot in plots]
        for plot in plots:
            plot.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
