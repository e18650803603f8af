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

_LETTER = 5.5  # points along the axis for a letter of a value
_WIDE_RANGE = 4.0  # least ratio of the largest to the smallest quantity on a logarithmic axis
_FURTHER = 1.05  # factor by which a logarithmic axis must increase the smallest distance over the whole range
_LONG_TAIL = 30.0
"""Least ratio of the largest value to the median for a logarithmic axis."""
_STEP, _SPREAD = 4.0, 0.3
"""Distance of bars that would hide each other, points, and the share of the distance of values that all bars may
take."""


@dataclass(frozen=True)
class SweepLine:
    """One scheme: its metric at each value of the axis, or None; intervals as (low, high)."""

    label: str
    stroke: Stroke
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()
    scheme: str = ""


@dataclass(frozen=True)
class SweepPanel:
    """One metric; `label` includes its unit. `logarithmic` panels leave out values that are not above 0."""

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
    """Return the metrics one above the other as SVG, with a `note` above them all.

    With `columns`, the names of groups, each metric has a panel for each group, side by side and over the same range;
    `panels` has those of the first metric, then those of the next one.

    Quantities stand at their values, on a logarithmic axis if that separates a wide range better. Other values (names
    of queues, say) stand at even distances, and no lines join their points.
    """
    places = quantities(values)
    across = max(len(columns), 1)
    rows = [panels[index : index + across] for index in range(0, len(panels), across)]
    with look(name):
        plot_frame = frame(*([125.0] * len(rows)), columns=across, note=note)
        spots = places or Places([float(index) for index in range(len(values))], None)
        width = plot_frame.size(0)[0]
        marks = {}
        for number, (axes, panel) in enumerate(zip(plot_frame.plots, panels, strict=True)):
            for index, (line, artist) in enumerate(zip(panel.lines, _draw(axes, panel, spots, width), strict=True)):
                artist.set_gid(f"line{number}-{index}")
                marks[f"line{number}-{index}"] = Mark(line.label, line.scheme)
        for plot, title in zip(plot_frame.plots, columns, strict=False):
            plot.set_title(title, fontsize=sheet().letters(9.0), pad=3.0)
        for index, row in enumerate(rows):
            _scale(plot_frame.plots[across * index : across * (index + 1)], row)
        labels = [
            f"{row[0].label}{', logarithmic' * (plot.get_yscale() == 'log')}"
            for row, plot in zip(rows, plot_frame.first, strict=True)
        ]
        room = _LETTER * max(map(len, values), default=1) + _LETTER
        label_indices = _apart(spots.at, bool(spots.logarithmic), max(width / room, 1.0))
        at, names = [spots.at[index] for index in label_indices], [values[index] for index in label_indices]
        for index, axes in enumerate(plot_frame.plots):
            axes.set_xticks(at, names if index >= len(panels) - across else [])
            axes.minorticks_off()
        plot_frame.finish(labels, LINES, (f"{axis}{', logarithmic' * bool(spots.logarithmic)}",))
        for index, axes in enumerate(plot_frame.plots):
            if index % across:
                axes.tick_params(labelleft=False)
        return compact(render(plot_frame.figure), name, marks)


_MARGIN = 0.09  # of the range of the values, at both ends of the axis
_LEAST_STEPS = 4
"""Minimum number of values for shifts: the distance of fewer values is larger than the margins of the axis."""


@dataclass(frozen=True)
class Places:
    """Places of values on an axis; `logarithmic` is None for values that are no quantities."""

    at: list[float]
    logarithmic: bool | None

    def margins(self) -> tuple[float, float]:
        """Return the limits of the axis."""
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
    """Return the numbers that all values begin with, of one unit; None for no quantities or equal ones."""
    matches = [re.fullmatch(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\d\s]*)", value) for value in values]
    numbers = [float(match[1]) for match in matches if match]
    if (
        len(numbers) < len(values)
        or len({match[2] for match in matches if match}) > 1
        or len(set(numbers)) < len(values)
    ):
        return None
    return Places(numbers, _is_logarithmic(numbers))


def _is_logarithmic(numbers: Sequence[float]) -> bool:
    """Return True if quantities of a wide range stand further apart on a logarithmic axis."""
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    if low <= 0 or high < _WIDE_RANGE * low:
        return False
    linear, logarithmic = numpy.array(sorted(numbers)), numpy.log(sorted(numbers))
    gaps = [numpy.diff(places).min() / (places[-1] - places[0]) for places in (linear, logarithmic)]
    return bool(gaps[1] > gaps[0] * _FURTHER)


def _apart(at: Sequence[float], logarithmic: bool, max_names: float) -> list[int]:
    """Return the indices of places whose names do not touch, if about `most` names have room."""
    if not at:
        return []
    along = numpy.log(at) if logarithmic else numpy.asarray(at)
    least = (along.max() - along.min()) / max_names
    indices: list[int] = []
    for index in numpy.argsort(along):
        if not indices or along[index] - along[indices[-1]] >= least:
            indices.append(int(index))
    return indices


def long_tailed(arrays: Sequence[numpy.ndarray[Any, Any]]) -> bool:
    """Return True if a linear axis would press most values to its foot: all above 0, some far above."""
    values = numpy.concatenate([array.ravel() for array in arrays]) if arrays else numpy.array([])
    return bool(len(values) and values.min() > 0 and values.max() > _LONG_TAIL * numpy.median(values))


def _draw(axes: Axes, panel: SweepPanel, places: Places, width: float) -> list[Line2D]:
    """Draw the lines of a panel that is `width` points wide."""
    lines = []
    has_lines = places.logarithmic is not None
    if places.logarithmic:
        axes.set_xscale("log")
    axes.set_xlim(*places.margins())
    beside = not has_lines or any(any(line.intervals) for line in panel.lines)
    steps = max(len(places.at), _LEAST_STEPS)
    spread = min(_SPREAD, _STEP * len(panel.lines) * steps / width) if has_lines else _SPREAD
    for index, line in enumerate(panel.lines):
        shift = spread * ((index + 0.5) / len(panel.lines) - 0.5) if beside else 0.0
        x = numpy.array(places.beside(shift))
        line_style = line_look(line.stroke) | ({} if has_lines else {"linestyle": "none"})
        lines += axes.plot(x, _values(panel, line), label=line.label, zorder=3, **line_style)
        for at, interval in zip(x, line.intervals, strict=False):
            if interval:
                axes.plot([at, at], interval, color=paint(line.stroke.color), linewidth=0.9, zorder=2)
    return lines


def _values(panel: SweepPanel, line: SweepLine) -> numpy.ndarray[Any, Any]:
    """Return the drawn values of a line, with NaN for missing ones."""
    y = numpy.array([numpy.nan if value is None else value for value in line.values], dtype=float)
    if panel.logarithmic:
        y[~(y > 0)] = numpy.nan
    return y


def _scale(plots: Sequence[Axes], panels: Sequence[SweepPanel]) -> None:
    """Give the plots of a row the same y axis, on which all of their values can be distinguished."""
    curves = [_values(panel, line) for panel in panels for line in panel.lines]
    arrays = [y[numpy.isfinite(y)] for y in curves]
    arrays += [
        numpy.array(bar, dtype=float) for panel in panels for line in panel.lines for bar in line.intervals if bar
    ]
    empty = not any(len(values) for values in arrays)
    logarithmic = not empty and (panels[0].logarithmic or long_tailed(arrays))
    for plot in plots:
        if logarithmic:
            plot.set_yscale("log")
        else:
            plot.set_ylim(*value_limits(arrays, panels[0].from_zero))
        if empty:
            say_empty(plot)
    if logarithmic:
        limits = [plot.get_ylim() for plot in plots]
        for plot in plots:
            plot.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
