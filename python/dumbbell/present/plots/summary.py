"""The two summary figures of a path: one metric over another, per run and as the mean of each scheme."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dumbbell.catalog.scheme import FAMILIES
from dumbbell.present.plots.parts.axis import PlaneAxis
from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import say_empty
from dumbbell.present.plots.parts.labels import Box, same_places
from dumbbell.present.plots.parts.scatter import MOST_NAMES, Scatter, legend_entries
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.style import INK, SHADE, Style, family_color, paint
from dumbbell.present.plots.parts.svg import Mark, compact

FEW = MOST_NAMES
"""Maximum number of schemes with names and markers; of more schemes only the front has them, others are grey."""

_WIDE = 560.0  # points, of a figure with many schemes
_BAR_SHARE = 1.0  # share of the points' range by which a bar may stretch the axis at each end
_DASHED, _DOTTED = (0, (5.0, 2.5)), (0, (1.5, 2.0))
_NAMES_IN_ONE = 3
_SAME_CAPACITY = 0.02  # share of the capacity: runs that differ by less share a line
_SMALL = 5.5  # points, of a grey marker


@dataclass(frozen=True)
class Point:
    """One point: a scheme, or one run of it. `title` is shown on hovering.

    Intervals are (low, high). No other point beats a point `in_front` in both metrics; `scheme` and `family` are as in
    the catalog.
    """

    name: str
    x: float
    y: float
    style: Style
    title: str
    x_interval: tuple[float, float] | None = None
    y_interval: tuple[float, float] | None = None
    in_front: bool = False
    scheme: str = ""
    family: str = "other"


@dataclass(frozen=True)
class Limits:
    """Limits of all schemes on the path, as far as known; the capacity is (least, most) of the runs.

    If the capacity is not `steady`, it is the mean over the whole run, and a part of the run may have more.
    """

    capacity_mbps: tuple[float, float] | None = None
    least_delay_ms: float | None = None
    steady: bool = True


def summary_figure(
    name: str,
    title: str,
    points: Sequence[Point],
    axes: tuple[PlaneAxis, PlaneAxis],
    limits: Limits = Limits(),
    annotate: bool = True,
    interval: str = "",
) -> str:
    """Return the figure as SVG; `axes` are the axis across and the one upwards, with all points and `limits` on them.

    With `annotate`, names stand beside the points, or below the plot if one finds no room. Of more than `FEW` schemes
    only those of the front have names; the others are grey, with an edge in the colour of their family. `interval` is
    the meaning of the bars.
    """
    is_crowded = is_crowd(points)
    x, y = axes
    with look(name):
        scatter = Scatter(title, _WIDE) if is_crowded else Scatter(title)
        x.apply(scatter.axes)
        y.apply(scatter.axes, upwards=True)
        marks, has_arrows = {}, False
        for index, point in enumerate(points):
            quiet = is_crowded and not point.in_front
            if not quiet:
                has_arrows |= _bars(scatter.axes, point)
            edge = family_color(point.family) if quiet else ""
            scatter.point(point.x, point.y, point.style, f"point{index}", _SMALL if quiet else 8.0, edge)
            marks[f"point{index}"] = Mark(point.title, point.scheme, point.x, point.y)
        if not points:
            say_empty(scatter.axes)
        handles = [*_limits(scatter.axes, limits), *_front(scatter.axes, points, x.is_reversed)]
        if interval and any(point.y_interval or point.x_interval for point in points):
            label = f"{interval}; an arrow: it goes on" if has_arrows else interval
            handles.append(Line2D([], [], color=INK, linewidth=0.9, marker="|", markersize=5, label=label))
        if handles:
            scatter.explain(handles)
        if is_crowded:
            _name_front(scatter, points)
        elif points and not (annotate and _name_all(scatter, points)):
            scatter.legend({point.name: point.style for point in points})
        return compact(render(scatter.figure), name, marks)


def is_crowd(points: Sequence[Point]) -> bool:
    """Return True if there are more schemes than a figure can name."""
    return len({point.name for point in points}) > FEW


def extent(points: Sequence[Point], upwards: bool, limits: Sequence[float] = ()) -> list[float]:
    """Return the values that an axis has to show: points, bars that are not too long, and limits."""
    values = [point.y if upwards else point.x for point in points] + list(limits)
    if not values:
        return []
    reach = _BAR_SHARE * (max(values) - min(values))
    low, high = (
        min(values) - (0 if min(values) in limits else reach),
        max(values) + (0 if max(values) in limits else reach),
    )
    if min(values) >= 0:
        low = max(low, 0.0)
    bars = [bar for point in points if (bar := point.y_interval if upwards else point.x_interval)]
    return values + [min(max(end, low), high) for bar in bars for end in bar]


def _bars(axes: Axes, point: Point) -> bool:
    """Draw the bars of a point, with an arrow where the axis ends before a bar; return True if there is an arrow."""
    color, has_arrow = paint(point.style.color), False
    for upwards, bar in ((False, point.x_interval), (True, point.y_interval)):
        if bar is None:
            continue
        low, high = sorted(axes.get_ylim() if upwards else axes.get_xlim())
        visible_bar = (max(bar[0], low), min(bar[1], high))
        fixed_pair = (point.x if upwards else point.y,) * 2
        axes.plot(
            *((fixed_pair, visible_bar) if upwards else (visible_bar, fixed_pair)), color=color, linewidth=1.1, zorder=2
        )
        is_inverted = axes.yaxis_inverted() if upwards else axes.xaxis_inverted()
        for beyond, limit, ahead in ((bar[0] < low, low, is_inverted), (bar[1] > high, high, not is_inverted)):
            if not beyond:
                continue
            has_arrow = True
            marker = ("^" if ahead else "v") if upwards else (">" if ahead else "<")
            spot = (point.x, limit) if upwards else (limit, point.y)
            axes.plot(*spot, marker=marker, markersize=4.5, color=color, linestyle="none", clip_on=False, zorder=2)
    return has_arrow


def _families(points: Sequence[Point]) -> list[Line2D]:
    """Return the legend for the edges of grey points; empty without colours."""
    if sheet().is_plain:
        return []
    present = {point.family for point in points if not point.in_front}
    handles = []
    for family, title in FAMILIES.items():
        if family in present:
            edge: Any = {"markerfacecolor": "none", "markeredgecolor": family_color(family), "markeredgewidth": 1.1}
            handles.append(Line2D([], [], linestyle="none", marker="o", markersize=_SMALL, label=title, **edge))
    return handles


def _limits(axes: Axes, limits: Limits) -> list[Line2D]:
    lines = []
    if limits.capacity_mbps is not None:
        low, high = limits.capacity_mbps
        rate = f"{(low + high) / 2:.4g}"
        if high - low > _SAME_CAPACITY * high:  # on a random path, each run has its own capacity
            axes.axhspan(low, high, color=SHADE, linewidth=0, zorder=0.5)
            rate = f"{low:.3g} to {high:.3g}"
        # a column of a paper has no room for more
        capacity_text = f"capacity {rate} Mbit/s" if limits.steady else f"mean capacity {rate} Mbit/s"
        label = capacity_text if sheet().width_pt else f"{capacity_text}, headers included"
        style: Any = {"color": INK, "linewidth": 0.9, "alpha": 0.75, "linestyle": _DASHED}
        lines.append(axes.axhline(high, label=label, **style))
    if limits.least_delay_ms is not None:
        label = f"least delay {limits.least_delay_ms:.4g} ms"
        lines.append(
            axes.axvline(limits.least_delay_ms, color=INK, linewidth=0.9, alpha=0.75, linestyle=_DOTTED, label=label)
        )
    return lines


def _front(axes: Axes, points: Sequence[Point], less_is_better: bool) -> list[Line2D]:
    """Draw the staircase of the points in front; a single point has none."""
    sign = 1.0 if less_is_better else -1.0
    front = sorted(((point.x, point.y) for point in points if point.in_front), key=lambda spot: sign * spot[0])
    if len(front) < 2:
        return []
    steps = ([x for x, _ in front], [y for _, y in front])
    look: Any = {"color": INK, "linewidth": 2.6, "alpha": 0.2, "zorder": 1.5, "solid_capstyle": "butt"}
    return list(axes.plot(*steps, drawstyle="steps-post", label="Pareto front", **look))


def _name_all(scatter: Scatter, points: Sequence[Point]) -> bool:
    """Write names beside all points if all find room; return True if they do."""
    spots = scatter.spots([(point.x, point.y) for point in points])
    lines = [box for point in points for box in _bar_boxes(scatter, point)] + _line_boxes(scatter, scatter.area())
    groups = same_places(spots)
    names = [(spots[group[0]], "\n".join(points[index].name for index in group)) for group in groups]
    places = scatter.room(names, lines=lines)
    if not all(places) or any(len(group) > _NAMES_IN_ONE for group in groups):
        return False
    scatter.write(names, places)
    return True


def _name_front(scatter: Scatter, points: Sequence[Point]) -> None:
    """Write the names of the front beside points with room, the others below the plot, with the families."""
    front = [index for index, point in enumerate(points) if point.in_front]
    families = _families(points)
    scatter.below(families)
    beside = front
    while True:
        spots = scatter.spots([(point.x, point.y) for point in points])
        lines = [box for index in front for box in _bar_boxes(scatter, points[index])]
        lines += _line_boxes(scatter, scatter.area())
        names = [(spots[index], points[index].name) for index in beside]
        nameless_spots = [spot for index, spot in enumerate(spots) if index not in beside]
        places = scatter.room(names, nameless_spots, lines)
        fitting = [index for index, place in zip(beside, places, strict=True) if place]
        if fitting == beside:
            scatter.write(names, places)
            return
        beside = fitting  # a longer list below the plot may leave it less room: place the rest again
        rest = {points[index].name: points[index].style for index in front if index not in beside}
        scatter.below([*families, *legend_entries(rest)])


def _bar_boxes(scatter: Scatter, point: Point) -> list[Box]:
    ends = [((low, point.y), (high, point.y)) for low, high in filter(None, [point.x_interval])]
    ends += [((point.x, low), (point.x, high)) for low, high in filter(None, [point.y_interval])]
    boxes = []
    for pair in ends:
        (x, y), (a, b) = scatter.axes.transData.transform(pair)
        boxes.append(Box(min(x, a) - 1, min(y, b) - 1, max(x, a) + 1, max(y, b) + 1))
    return boxes


def _line_boxes(scatter: Scatter, area: Box) -> list[Box]:
    """Return the boxes that the plot's lines cover: limits and front."""
    boxes = []
    for line in scatter.axes.lines:
        if str(line.get_label()).startswith("_"):  # points and bars
            continue
        places = line.get_transform().transform(line.get_path().vertices)
        for (x, y), (a, b) in itertools.pairwise(places):
            corners = [(x, y), (a, b)] if x == a or y == b else [(x, y), (a, y), (a, b)]
            for (left, bottom), (right, top) in itertools.pairwise(corners):
                low = (max(min(left, right), area.left) - 0.5, max(min(bottom, top), area.bottom) - 0.5)
                high = (min(max(left, right), area.right) + 0.5, min(max(bottom, top), area.top) + 0.5)
                boxes.append(Box(*low, *high))
    return boxes
