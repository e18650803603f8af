"""The two summary figures of a path: throughput over delay, per run and as the mean of each scheme."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dumbbell.present.plots.parts.axis import DelayAxis
from dumbbell.present.plots.parts.canvas import look, render, renderer
from dumbbell.present.plots.parts.frame import say_empty
from dumbbell.present.plots.parts.inset import Inset, find_inset, same_places
from dumbbell.present.plots.parts.key import KeyRow, draw_key, key_height
from dumbbell.present.plots.parts.labels import Box
from dumbbell.present.plots.parts.scatter import MARKER, Scatter
from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import GROUND, INK, SHADE, Style
from dumbbell.present.plots.parts.svg import compact

FEW = 12
"""More names do not find room beside their points: most of them stand in a key below the plot."""

_WIDE = 560.0  # points, of a figure with a key
_LINE = 13.0  # points, for the explanations above the plot
_AIR = 0.03  # above the highest point or the capacity
_BAR_SHARE = 0.25  # of the axis: how far a bar may stretch it
_DASHED, _DOTTED = (0, (5.0, 2.5)), (0, (1.5, 2.0))
_NAMES_IN_ONE = 3
_SAME_CAPACITY = 0.02  # of it: runs that differ by less share a line
_INSET_LETTERS, _INSET_MARKER = 7.5, 7.0


@dataclass(frozen=True)
class Point:
    """One point: a scheme, or one run of it. `title` is shown on hovering.

    Intervals are (low, high). The name of a `named` one stands beside it where there is room; `in_front` are points
    that no other beats in both, by growing delay.
    """

    name: str
    delay_ms: float
    throughput_mbps: float
    style: Style
    title: str
    delay_interval: tuple[float, float] | None = None
    throughput_interval: tuple[float, float] | None = None
    named: bool = True
    in_front: bool = False


@dataclass(frozen=True)
class Limits:
    """What no scheme can exceed on the path, where it is known; the capacity is (least, most) of the runs."""

    capacity_mbps: tuple[float, float] | None = None
    least_delay_ms: float | None = None


def summary_figure(
    name: str,
    title: str,
    points: Sequence[Point],
    axis: DelayAxis,
    limits: Limits = Limits(),
    annotate: bool = True,
    interval: str = "",
) -> str:
    """The figure as SVG. Lower delay is to the right; `axis` has all delays and the least one of `limits` on it.

    With `annotate`, names stand beside the points; else in a legend at the right. Of more than a `FEW` those of the
    front and the named ones do, and all are in a key below with their numbers. `interval` says what the bars are.
    """
    names = list(dict.fromkeys(point.name for point in points))
    drawing = None
    if len(names) <= FEW:
        drawing = _draw(name, title, points, axis, limits, annotate, interval, keyed=False)
    return drawing or _draw(name, title, points, axis, limits, annotate, interval, keyed=True) or ""


def _draw(
    name: str,
    title: str,
    points: Sequence[Point],
    axis: DelayAxis,
    limits: Limits,
    annotate: bool,
    interval: str,
    *,
    keyed: bool,
) -> str | None:
    """The figure with or without a key; None if it needs one, as not all names find room."""
    names = dict.fromkeys(point.name for point in points)
    with look(name):
        scatter = Scatter(title, _WIDE, _LINE, key_height(len(names))) if keyed else Scatter(title, above=_LINE)
        scatter.axes.set_xlabel(f"95th percentile one-way delay (ms){', logarithmic' if axis.logarithmic else ''}")
        scatter.axes.set_ylabel("Average throughput (Mbit/s)")
        axis.apply(scatter.axes)
        scatter.axes.invert_xaxis()
        scatter.axes.set_ylim(0, _highest(points, limits) or 1)
        scatter.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
        titles = {}
        for index, point in enumerate(points):
            _bars(scatter.axes, point)
            scatter.point(point.delay_ms, point.throughput_mbps, point.style, f"point{index}")
            titles[f"point{index}"] = point.title
        if not points:
            say_empty(scatter.axes)
        handles = [*_limits(scatter.axes, limits), *_front(scatter.axes, points)]
        if interval and any(point.throughput_interval or point.delay_interval for point in points):
            handles.append(Line2D([], [], color=INK, linewidth=0.9, marker="|", markersize=5, label=interval))
        if points and not annotate and not keyed:
            scatter.legend({point.name: point.style for point in points})
        if handles:
            scatter.explain(handles)
        if points and annotate and not _name(scatter, points, keyed) and not keyed:
            return None
        if keyed:
            heads = ("Mbit/s", "ms") if annotate else ()
            draw_key(scatter.figure, renderer(scatter.figure), _key(points, annotate), heads, 8.0)
        return compact(render(scatter.figure), name, titles)


def _highest(points: Sequence[Point], limits: Limits) -> float:
    highest = max([point.throughput_mbps for point in points] + [*(limits.capacity_mbps or ())], default=0.0)
    bars = max((point.throughput_interval[1] for point in points if point.throughput_interval), default=0.0)
    return max(highest, min(bars, highest * (1 + _BAR_SHARE))) * (1 + _AIR)


def delay_range(points: Sequence[Point], limits: Limits) -> list[float]:
    """The delays that the axis of a figure has to show: points, bars that are not too long, and the least delay."""
    delays = [point.delay_ms for point in points]
    delays += [limits.least_delay_ms] if limits.least_delay_ms is not None else []
    if not delays:
        return []
    reach = _BAR_SHARE * (max(delays) - min(delays))
    low, high = min(delays) - (0 if limits.least_delay_ms is not None else reach), max(delays) + reach
    ends = [end for point in points if point.delay_interval for end in point.delay_interval]
    return delays + [min(max(end, low), high) for end in ends]


def _bars(axes: Axes, point: Point) -> None:
    look: Any = {"color": point.style.color, "linewidth": 1.1, "zorder": 2}
    if point.delay_interval:
        axes.plot(point.delay_interval, [point.throughput_mbps] * 2, **look)
    if point.throughput_interval:
        low, high = point.throughput_interval
        axes.plot([point.delay_ms] * 2, [max(low, 0.0), high], **look)


def _limits(axes: Axes, limits: Limits) -> list[Line2D]:
    lines = []
    if limits.capacity_mbps is not None:
        low, high = limits.capacity_mbps
        label = f"capacity {(low + high) / 2:.4g} Mbit/s"
        if high - low > _SAME_CAPACITY * high:  # a path of chance: each run has its own
            axes.axhspan(low, high, color=SHADE, linewidth=0, zorder=0.5)
            label = f"capacity {low:.3g} to {high:.3g} Mbit/s"
        style: Any = {"color": INK, "linewidth": 0.9, "alpha": 0.75, "linestyle": _DASHED}
        lines.append(axes.axhline(high, label=label, **style))
    if limits.least_delay_ms is not None:
        label = f"least delay {limits.least_delay_ms:.4g} ms"
        lines.append(
            axes.axvline(limits.least_delay_ms, color=INK, linewidth=0.9, alpha=0.75, linestyle=_DOTTED, label=label)
        )
    return lines


def _front(axes: Axes, points: Sequence[Point]) -> list[Line2D]:
    """The staircase of the points that no other beats, up to the edge of the plot."""
    front = sorted((point.delay_ms, point.throughput_mbps) for point in points if point.in_front)
    if not front:
        return []
    end = max(axes.get_xlim())
    steps = ([delay for delay, _ in front] + [end], [rate for _, rate in front] + [front[-1][1]])
    look: Any = {"color": INK, "linewidth": 0.8, "alpha": 0.5, "zorder": 1.5}
    return list(axes.plot(*steps, drawstyle="steps-post", label="Pareto front", **look))


def _name(scatter: Scatter, points: Sequence[Point], keyed: bool) -> bool:
    """Names beside the points, and a magnifying glass where points cover each other; whether all names found room."""
    spots = scatter.spots([(point.delay_ms, point.throughput_mbps) for point in points])
    area = scatter.area()
    radius = MARKER / 2 + 1
    bounds = Box(area.left + 1, area.bottom + 2, area.right + 8, area.top + 1)
    lines = [box for point in points for box in _bar_boxes(scatter, point)] + _line_boxes(scatter, area)
    glass = find_inset(spots, area, radius + 1, lines)
    solid = []
    shown: set[int] = set()
    complete = True
    if glass:
        shown = set(glass.members)
        solid = [
            Box(glass.target.left - 26, glass.target.bottom - 15, glass.target.right, glass.target.top),
            glass.source,
        ]
        complete = _magnify(scatter, points, glass)
    groups = [
        [
            index
            for index in group
            if index not in shown and (not keyed or points[index].named or points[index].in_front)
        ]
        for group in same_places(spots)
    ]
    wanted = sorted((group for group in groups if group), key=lambda group: not points[group[0]].in_front)
    names = [(spots[group[0]], _joined([points[index].name for index in group])) for group in wanted]
    named = {index for group in wanted for index in group}
    others = [spot for index, spot in enumerate(spots) if index not in named]
    leading = sum(points[group[0]].in_front for group in wanted) if keyed else len(wanted)
    return all(scatter.name(names, bounds, others, lines, solid, 8.5 if keyed else 9.5, leading)) and complete


def _bar_boxes(scatter: Scatter, point: Point) -> list[Box]:
    found = []
    ends = [
        ((low, point.throughput_mbps), (high, point.throughput_mbps))
        for low, high in filter(None, [point.delay_interval])
    ]
    ends += [((point.delay_ms, low), (point.delay_ms, high)) for low, high in filter(None, [point.throughput_interval])]
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


def _joined(names: Sequence[str]) -> str:
    """Points that are in the same place share a name."""
    rest = len(names) - _NAMES_IN_ONE
    shown = list(names) if rest <= 0 else [*names[:_NAMES_IN_ONE], f"and {rest} more"]
    return "\n".join(shown)


def _magnify(scatter: Scatter, points: Sequence[Point], glass: Inset) -> bool:
    """Draws the part of the plot again, larger, with the names of all points that find room; whether all did."""
    width, height = scatter.width, scatter.height
    box = glass.target
    axes = scatter.figure.add_axes(
        (box.left / width, box.bottom / height, (box.right - box.left) / width, (box.top - box.bottom) / height)
    )
    axes.set_facecolor(GROUND)
    corners = scatter.axes.transData.inverted().transform(
        [(glass.source.left, glass.source.bottom), (glass.source.right, glass.source.top)]
    )
    (left, bottom), (right, top) = corners
    axes.set_xscale(scatter.axes.get_xscale(), **({"linthresh": 2} if scatter.axes.get_xscale() == "symlog" else {}))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    for axis, (low, high) in ((axes.xaxis, sorted((left, right))), (axes.yaxis, (bottom, top))):
        values = [value for value in MaxNLocator(3).tick_values(low, high) if low <= value <= high]
        axis.set_major_locator(FixedLocator(values))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.5g}"))
    axes.tick_params(labelsize=_INSET_LETTERS - 0.5, length=2, pad=1.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    for index in glass.members:
        _bars(axes, points[index])
        look = marker_look(points[index].style, _INSET_MARKER)
        axes.plot(points[index].delay_ms, points[index].throughput_mbps, linestyle="none", zorder=3, **look)
    scatter.frame(glass.source, Box(box.left, box.bottom, box.right, box.top))
    inside = axes.transData.transform([(points[i].delay_ms, points[i].throughput_mbps) for i in glass.members])
    spots = [(float(x), float(y)) for x, y in inside]
    order = sorted(same_places(spots), key=lambda group: not any(points[glass.members[i]].in_front for i in group))
    names = [(spots[group[0]], _joined([points[glass.members[i]].name for i in group])) for group in order]
    return all(scatter.name(names, box, size=_INSET_LETTERS))


def _key(points: Sequence[Point], numbers: bool) -> list[KeyRow]:
    """All schemes: those with numbers by throughput, as they lie in the plot."""
    if not numbers:
        return [KeyRow(name, style) for name, style in {point.name: point.style for point in points}.items()]
    ordered = sorted(points, key=lambda point: (-point.throughput_mbps, point.delay_ms))
    return [
        KeyRow(point.name, point.style, (f"{point.throughput_mbps:.2f}", f"{point.delay_ms:.1f}"), point.in_front)
        for point in ordered
    ]
