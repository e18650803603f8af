"""The two summary figures of a path: throughput over delay, per run and as the mean of each scheme."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from dumbbell.figures.axis import delay_axis
from dumbbell.figures.canvas import look, render, renderer, settle
from dumbbell.figures.labels import Box, Label, nearest_on, place
from dumbbell.figures.style import INK, LINE_MARKERS, Style
from dumbbell.figures.svg import compact

_WIDTH, _HEIGHT = 410.0, 300.0  # points
_LEFT, _RIGHT, _ABOVE, _BELOW = 42.0, 12.0, 20.0, 36.0
_TITLE_LINE, _TITLE_SIZE = 13.0, 9.5
_LEAST_PLOT = 190.0
_GAP = 8.0
_LONG_LEGEND = 24
_FEW = 12  # names find room among the points
_MARKER = 8.0
_LEADER = 10.0  # names further than this from their point get a line to it


@dataclass(frozen=True)
class Point:
    """One point: a scheme, or one run of it."""

    name: str
    delay_ms: float
    throughput_mbps: float
    style: Style
    title: str


def summary_figure(name: str, title: str, points: Sequence[Point], annotate: bool) -> str:
    """The figure as SVG: names beside the points if `annotate`, else in a legend at the right."""
    with look(name):
        figure = Figure(figsize=(_WIDTH / 72, _HEIGHT / 72))
        axes = figure.add_axes((0, 0, 1, 1))
        _lay_out(axes, title, _WIDTH - _LEFT - _RIGHT)
        _write_title(figure, title)
        axes.set_xlabel("95th percentile one-way delay (ms)")
        axes.set_ylabel("Average throughput (Mbit/s)")
        titles = {}
        for index, point in enumerate(points):
            _draw(axes, point, f"point{index}")
            titles[f"point{index}"] = point.title
        _scale(axes, points)
        if annotate:
            _annotate(figure, axes, points)
        elif points:
            _legend(figure, axes, points, title)
        return compact(render(figure), name, titles)


def _draw(axes: Axes, point: Point, group: str) -> None:
    line = axes.plot(
        point.delay_ms, point.throughput_mbps, linestyle="none", clip_on=False, zorder=3, **_look(point.style)
    )
    line[0].set_gid(group)


def _look(style: Style) -> dict[str, Any]:
    stroke = style.marker in LINE_MARKERS
    return {
        # filled markers have an edge in the theme's ink; strokes get one beneath, to be seen on any ground
        "path_effects": [withStroke(linewidth=3.2, foreground=INK)] if stroke else None,
        "marker": style.marker,
        "markersize": _MARKER + (2 if style.marker in ("*", "1", "+") else 0),
        "markerfacecolor": style.color,
        "markeredgecolor": style.color if stroke else INK,
        "markeredgewidth": 2.0 if stroke else 0.6,
    }


def _scale(axes: Axes, points: Sequence[Point]) -> None:
    axis = delay_axis([point.delay_ms for point in points])
    if axis.powers_of_two:
        axes.set_xscale("symlog", base=2, linthresh=2, linscale=0.5)
        axes.set_xlim(axis.low, axis.high)
        axes.xaxis.set_major_locator(SymmetricalLogLocator(base=2, linthresh=2))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
        axes.minorticks_off()
    elif points:
        axes.margins(x=0.12)
    axes.invert_xaxis()
    # the best schemes crowd at the top: the more there are, the more room their names need above
    headroom = 1.08 + 0.01 * max(len({point.name for point in points}) - _FEW, 0)
    axes.set_ylim(0, headroom * max((point.throughput_mbps for point in points), default=0) or 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))


def _lay_out(axes: Axes, title: str, width: float) -> None:
    height = _HEIGHT - _BELOW - _ABOVE - _TITLE_LINE * title.count("\n")
    axes.set_position((_LEFT / _WIDTH, _BELOW / _HEIGHT, width / _WIDTH, height / _HEIGHT))


def _write_title(figure: Figure, title: str) -> None:
    """Across the whole figure, in letters small enough to fit."""
    text = figure.text(0.5, 1 - 3 / _HEIGHT, title, ha="center", va="top", fontsize=_TITLE_SIZE)
    width = text.get_window_extent(renderer(figure)).width
    text.set_fontsize(_TITLE_SIZE * min(1.0, (_WIDTH - 4) / width))


def _legend(figure: Figure, axes: Axes, points: Sequence[Point], title: str) -> None:
    """Names at the right, in as much room as they need."""
    handles = {point.name: Line2D([], [], linestyle="none", label=point.name, **_look(point.style)) for point in points}
    columns = 1 + (len(handles) > _LONG_LEGEND)
    for size in (9, 8, 7, 6, 5):
        legend = axes.legend(
            handles=list(handles.values()),
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            ncols=columns,
            fontsize=size,
            handletextpad=0.3,
            borderpad=0.0,
            columnspacing=0.8,
        )
        room = _WIDTH - _LEFT - legend.get_window_extent(renderer(figure)).width - _GAP
        if room >= _LEAST_PLOT:
            break
    _lay_out(axes, title, max(room, _LEAST_PLOT))
    legend.set_bbox_to_anchor((1.0 + _GAP / max(room, _LEAST_PLOT), 1.0))


def _annotate(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    if not points:
        return
    settle(figure)
    measure = renderer(figure)
    spots = [tuple(axes.transData.transform((point.delay_ms, point.throughput_mbps))) for point in points]
    sizes = [_text_size(measure, figure, point.name) for point in points]
    area = axes.get_window_extent(measure)
    bounds = Box(area.x0 + 1, area.y0 + 2, area.x1 + 8, area.y1 + 4)
    for spot, point, label in zip(spots, points, place(spots, sizes, bounds, _MARKER / 2 + 1), strict=True):
        _write(figure, point, spot, label)


def _text_size(measure: RendererAgg, figure: Figure, name: str) -> tuple[float, float]:
    text = figure.text(0, 0, name)
    extent = text.get_window_extent(measure)
    text.remove()
    return (extent.width + 2, extent.height + 1)


def _write(figure: Figure, point: Point, spot: tuple[float, float], label: Label) -> None:
    width, height = figure.bbox.width, figure.bbox.height
    box = label.box
    middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
    figure.text(middle[0] / width, middle[1] / height, point.name, ha="center", va="center")
    if label.distance > _LEADER:
        end = nearest_on(box, spot)
        xs, ys = (spot[0] / width, end[0] / width), (spot[1] / height, end[1] / height)
        figure.add_artist(Line2D(xs, ys, color=INK, alpha=0.45, linewidth=0.6, zorder=1))
