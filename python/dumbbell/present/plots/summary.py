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
from dumbbell.present.plots.parts.scatter import MOST_NAMES, Scatter, marked
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.style import INK, SHADE, Style, family_color, paint
from dumbbell.present.plots.parts.svg import Mark, compact

FEW = MOST_NAMES
"""Of more schemes only the front has names and markers of its own: all others are grey."""

_WIDE = 560.0  # points, of a figure with many schemes
_BAR_SHARE = 1.0  # of the range of the points: how far a bar may stretch the axis at each end
_DASHED, _DOTTED = (0, (5.0, 2.5)), (0, (1.5, 2.0))
_NAMES_IN_ONE = 3
_SAME_CAPACITY = 0.02  # of it: runs that differ by less share a line
_SMALL = 5.5  # points, of a grey marker


@dataclass(frozen=True)
class Point:
    """One point: a scheme, or one run of it. `title` is shown on hovering.

    Intervals are (low, high); `in_front` are points that no other beats in both, `scheme` and `family` as in the
    catalog.
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
    """What no scheme can exceed on the path, where it is known; the capacity is (least, most) of the runs.

    Where the capacity is not `steady`, it is the mean over the whole run, and a part of the run may have more.
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
    """The figure as SVG; `axes` are those across and upwards, with all points and what `limits` has on them.

    With `annotate`, names stand beside the points, or below the plot where not all find room. Of more than a `FEW`
    schemes only those of the front have names; the others are grey, with an edge in the colour of their family.
    `interval` says what the bars are.
    """
    crowded = is_crowd(points)
    x, y = axes
    with look(name):
        scatter = Scatter(title, _WIDE) if crowded else Scatter(title)
        x.apply(scatter.axes)
        y.apply(scatter.axes, upwards=True)
        marks, cut = {}, False
        for index, point in enumerate(points):
            quiet = crowded and not point.in_front
            if not quiet:
                cut |= _bars(scatter.axes, point)
            edge = family_color(point.family) if quiet else ""
            scatter.point(point.x, point.y, point.style, f"point{index}", _SMALL if quiet else 8.0, edge)
            marks[f"point{index}"] = Mark(point.title, point.scheme, point.x, point.y)
        if not points:
            say_empty(scatter.axes)
        handles = [*_limits(scatter.axes, limits), *_front(scatter.axes, points, x.reversed)]
        if interval and any(point.y_interval or point.x_interval for point in points):
            label = f"{interval}; an arrow: it goes on" if cut else interval
            handles.append(Line2D([], [], color=INK, linewidth=0.9, marker="|", markersize=5, label=label))
        if handles:
            scatter.explain(handles)
        if crowded:
            _name_front(scatter, points)
        elif points and not (annotate and _name_all(scatter, points)):
            scatter.legend({point.name: point.style for point in points})
        return compact(render(scatter.figure), name, marks)


def is_crowd(points: Sequence[Point]) -> bool:
    """Whether there are more schemes than a figure can name."""
    return len({point.name for point in points}) > FEW


def extent(points: Sequence[Point], upwards: bool, most: Sequence[float] = ()) -> list[float]:
    """The values that an axis has to show: those of points, bars that are not too long, and those of limits."""
    values = [point.y if upwards else point.x for point in points] + list(most)
    if not values:
        return []
    reach = _BAR_SHARE * (max(values) - min(values))
    low, high = min(values) - (0 if min(values) in most else reach), max(values) + (0 if max(values) in most else reach)
    if min(values) >= 0:
        low = max(low, 0.0)
    bars = [bar for point in points if (bar := point.y_interval if upwards else point.x_interval)]
    return values + [min(max(end, low), high) for bar in bars for end in bar]


def _bars(axes: Axes, point: Point) -> bool:
    """Draws the bars of a point, with an arrow where the axis ends before them; returns whether one does."""
    color, cut = paint(point.style.color), False
    for upwards, bar in ((False, point.x_interval), (True, point.y_interval)):
        if bar is None:
            continue
        low, high = sorted(axes.get_ylim() if upwards else axes.get_xlim())
        shown = (max(bar[0], low), min(bar[1], high))
        other = (point.x if upwards else point.y,) * 2
        axes.plot(*((other, shown) if upwards else (shown, other)), color=color, linewidth=1.1, zorder=2)
        turned = axes.yaxis_inverted() if upwards else axes.xaxis_inverted()
        for beyond, limit, ahead in ((bar[0] < low, low, turned), (bar[1] > high, high, not turned)):
            if not beyond:
                continue
            cut = True
            marker = ("^" if ahead else "v") if upwards else (">" if ahead else "<")
            spot = (point.x, limit) if upwards else (limit, point.y)
            axes.plot(*spot, marker=marker, markersize=4.5, color=color, linestyle="none", clip_on=False, zorder=2)
    return cut


def _families(points: Sequence[Point]) -> list[Line2D]:
    """A legend of what the edges of grey points are; there is nothing to say without colours."""
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
        if high - low > _SAME_CAPACITY * high:  # a path of chance: each run has its own
            axes.axhspan(low, high, color=SHADE, linewidth=0, zorder=0.5)
            rate = f"{low:.3g} to {high:.3g}"
        # a column of a paper has no room for more
        what = f"capacity {rate} Mbit/s" if limits.steady else f"mean capacity {rate} Mbit/s"
        label = what if sheet().width_pt else f"{what}, headers included"
        style: Any = {"color": INK, "linewidth": 0.9, "alpha": 0.75, "linestyle": _DASHED}
        lines.append(axes.axhline(high, label=label, **style))
    if limits.least_delay_ms is not None:
        label = f"least delay {limits.least_delay_ms:.4g} ms"
        lines.append(
            axes.axvline(limits.least_delay_ms, color=INK, linewidth=0.9, alpha=0.75, linestyle=_DOTTED, label=label)
        )
    return lines


def _front(axes: Axes, points: Sequence[Point], less_is_better: bool) -> list[Line2D]:
    """The staircase of the points that no other beats; there is none of a single point."""
    sign = 1.0 if less_is_better else -1.0
    front = sorted(((point.x, point.y) for point in points if point.in_front), key=lambda spot: sign * spot[0])
    if len(front) < 2:
        return []
    steps = ([x for x, _ in front], [y for _, y in front])
    look: Any = {"color": INK, "linewidth": 2.6, "alpha": 0.2, "zorder": 1.5, "solid_capstyle": "butt"}
    return list(axes.plot(*steps, drawstyle="steps-post", label="Pareto front", **look))


def _name_all(scatter: Scatter, points: Sequence[Point]) -> bool:
    """Names beside all points, if all find room; whether they did."""
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
    """Names beside the points of the front where there is room, the others below the plot, with the families."""
    front = [index for index, point in enumerate(points) if point.in_front]
    families = _families(points)
    scatter.below(families)
    beside = front
    while True:
        spots = scatter.spots([(point.x, point.y) for point in points])
        lines = [box for index in front for box in _bar_boxes(scatter, points[index])]
        lines += _line_boxes(scatter, scatter.area())
        names = [(spots[index], points[index].name) for index in beside]
        others = [spot for index, spot in enumerate(spots) if index not in beside]
        places = scatter.room(names, others, lines)
        kept = [index for index, place in zip(beside, places, strict=True) if place]
        if kept == beside:
            scatter.write(names, places)
            return
        beside = kept  # what is below the plot may leave it less room: the rest is placed anew
        rest = {points[index].name: points[index].style for index in front if index not in beside}
        scatter.below([*families, *marked(rest)])


def _bar_boxes(scatter: Scatter, point: Point) -> list[Box]:
    ends = [((low, point.y), (high, point.y)) for low, high in filter(None, [point.x_interval])]
    ends += [((point.x, low), (point.x, high)) for low, high in filter(None, [point.y_interval])]
    found = []
    for pair in ends:
        (x, y), (a, b) = scatter.axes.transData.transform(pair)
        found.append(Box(min(x, a) - 1, min(y, b) - 1, max(x, a) + 1, max(y, b) + 1))
    return found


def _line_boxes(scatter: Scatter, area: Box) -> list[Box]:
    """What the lines of the plot cover: limits and front."""
    found = []
    for line in scatter.axes.lines:
        if str(line.get_label()).startswith("_"):  # points and bars
            continue
        places = line.get_transform().transform(line.get_path().vertices)
        for (x, y), (a, b) in itertools.pairwise(places):
            corners = [(x, y), (a, b)] if x == a or y == b else [(x, y), (a, y), (a, b)]
            for (left, bottom), (right, top) in itertools.pairwise(corners):
                low = (max(min(left, right), area.left) - 0.5, max(min(bottom, top), area.bottom) - 0.5)
                high = (min(max(left, right), area.right) + 0.5, min(max(bottom, top), area.top) + 0.5)
                found.append(Box(*low, *high))
    return found
