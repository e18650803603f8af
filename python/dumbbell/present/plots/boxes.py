"""Distributions of a metric as boxes, one row for each scheme: every run, the quartiles, and the median."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from dumbbell.base.errors import UserError
from dumbbell.present.plots.parts.axis import PlaneAxis
from dumbbell.present.plots.parts.canvas import look, render, renderer
from dumbbell.present.plots.parts.frame import say_empty
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import INK, Style, paint
from dumbbell.present.plots.parts.svg import Mark, compact

MOST_TEXT = 0.5
"""Maximum share of the width for names; longer names end in dots."""

_WIDTH = 420.0  # points
_ROW, _LOW_ROW = 14.0, 11.0
_ABOVE, _BELOW, _RIGHT, _GAP = 6.0, 34.0, 12.0, 10.0
_MARKER = 4.5
_QUARTILES_OF = 5  # minimum number of runs for a box


@dataclass(frozen=True)
class BoxRow:
    """Values of the runs of a scheme; `titles` has a text for each on hovering."""

    label: str
    style: Style
    values: Sequence[float]
    titles: Sequence[str] = ()
    scheme: str = ""


def box_figure(name: str, rows: Sequence[BoxRow], axis: PlaneAxis) -> str:
    """Return the rows as SVG, from top to bottom.

    A row has a mark for each run, a line for the median, and a box for the quartiles.
    """
    with look(name):
        figure = Figure()
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_yticks(range(len(rows)), [row.label for row in rows])
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        axis.apply(axes)
        _lay_out(figure, axes, len(rows))
        marks = {}
        for place, row in enumerate(rows):
            _draw(axes, place, row)
            titles = row.titles or [row.label] * len(row.values)
            for number, (value, title) in enumerate(zip(row.values, titles, strict=True)):
                mark: Any = marker_look(row.style, _MARKER)
                (artist,) = axes.plot(value, place, linestyle="none", clip_on=False, zorder=3, **mark)
                artist.set_gid(f"mark{place}-{number}")
                marks[f"mark{place}-{number}"] = Mark(title, row.scheme, value)
        if not rows:
            say_empty(axes)
        return compact(render(figure), name, marks)


def _draw(axes: Axes, place: int, row: BoxRow) -> None:
    values = numpy.array(row.values)
    color = paint(row.style.color)
    axes.plot([values.min(), values.max()], [place, place], color=color, linewidth=1.0, zorder=1.5)
    if len(values) >= _QUARTILES_OF:
        low, high = numpy.percentile(values, (25, 75))
        box: Any = {"facecolor": color, "alpha": 0.25, "linewidth": 0, "zorder": 1.4}
        axes.add_patch(Rectangle((float(low), place - 0.35), float(high - low), 0.7, **box))
    median = float(numpy.median(values))
    axes.plot([median, median], [place - 0.38, place + 0.38], color=INK, linewidth=1.3, zorder=2)


def _lay_out(figure: Figure, axes: Axes, rows: int) -> None:
    """Give the rows their height, and their names enough room.

    Raises:
        UserError: The height of the sheet is too small.
    """
    measure = renderer(figure)
    width = sheet().width(_WIDTH)
    names = axes.get_yticklabels()
    for name in names:
        while name.get_window_extent(measure).width > MOST_TEXT * width:
            name.set_text(f"{name.get_text().rstrip('…')[:-1]}…")
    axes.set_yticklabels([name.get_text() for name in names])
    left = max((name.get_window_extent(measure).width for name in names), default=0.0) + _GAP
    height_pt = sheet().height()
    inside = _ROW * max(rows, 1) if height_pt is None else height_pt - _ABOVE - _BELOW
    if inside < _LOW_ROW * rows:
        least = (_ABOVE + _BELOW + _LOW_ROW * rows) * sheet().scale / 72
        raise UserError(f"`size`: {rows} rows need a height of {least:.1f} in")
    height = _ABOVE + inside + _BELOW
    figure.set_size_inches(width / 72, height / 72)
    axes.set_position((left / width, _BELOW / height, (width - left - _RIGHT) / width, inside / height))
    axes.tick_params(axis="y", length=0)
