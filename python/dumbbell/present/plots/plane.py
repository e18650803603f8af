"""Mean Operating Point Plane: mean throughput over mean smoothed RTT, one point per flow, scheme or run.

The design is that of ccperf.net for experiment #15.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Ellipse as EllipsePatch
from matplotlib.ticker import FuncFormatter

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import say_empty, tick_text
from dumbbell.present.plots.parts.scatter import Bar, Scatter
from dumbbell.present.plots.parts.style import Style, paint
from dumbbell.present.plots.parts.svg import Mark, compact


@dataclass(frozen=True)
class Ellipse:
    """A region around a point: full width (ms) and height (Mbit/s) before a rotation by `angle_deg` in data units."""

    width_ms: float
    height_mbps: float
    angle_deg: float = 0.0


@dataclass(frozen=True)
class Bars:
    """Intervals around a point, as (low, high)."""

    srtt_ms: tuple[float, float]
    throughput_mbps: tuple[float, float]


@dataclass(frozen=True)
class PlanePoint:
    """One point; `title` is shown on hovering."""

    name: str
    srtt_ms: float
    throughput_mbps: float
    style: Style
    title: str = ""
    spread: Ellipse | Bars | None = None
    scheme: str = ""


def plane_figure(
    name: str,
    title: str,
    points: Sequence[PlanePoint],
    annotate: bool = True,
) -> str:
    """Return the plane as SVG; names are beside the points if `annotate` and all find room, else below the plot."""
    with look(name):
        scatter = Scatter(title)
        axes = scatter.axes
        axes.set_xlabel("Mean sRTT (ms)")
        axes.set_ylabel("Mean throughput (Mbit/s)")
        marks = {}
        for index, point in enumerate(points):
            _spread(axes, point)
            scatter.point(point.srtt_ms, point.throughput_mbps, point.style, f"point{index}")
            marks[f"point{index}"] = Mark(point.title or point.name, point.scheme, point.srtt_ms, point.throughput_mbps)
        _scale(axes, points)
        if annotate:
            names = [(point.srtt_ms, point.throughput_mbps, point.name, point.style) for point in points]
            bars = [bar for point in points if isinstance(point.spread, Bars) for bar in _bars(point, point.spread)]
            scatter.annotate(names, bars)
        else:
            scatter.legend({point.name: point.style for point in points})
        return compact(render(scatter.figure), name, marks)


def _spread(axes: Axes, point: PlanePoint) -> None:
    color = paint(point.style.color)
    if isinstance(point.spread, Ellipse):
        middle = (point.srtt_ms, point.throughput_mbps)
        size = (point.spread.width_ms, point.spread.height_mbps)
        for is_filled in (True, False):
            axes.add_patch(
                EllipsePatch(
                    middle,
                    *size,
                    angle=point.spread.angle_deg,
                    facecolor=color if is_filled else "none",
                    edgecolor="none" if is_filled else color,
                    alpha=0.15 if is_filled else 0.9,
                    linewidth=0.9,
                    zorder=2,
                )
            )
    elif point.spread:
        for start, end in _bars(point, point.spread):
            axes.plot((start[0], end[0]), (start[1], end[1]), color=color, linewidth=1.2, zorder=2)


def _bars(point: PlanePoint, bars: Bars) -> tuple[Bar, Bar]:
    (left, right), (low, high) = bars.srtt_ms, bars.throughput_mbps
    x, y = point.srtt_ms, point.throughput_mbps
    return ((left, y), (right, y)), ((x, low), (x, high))


def _scale(axes: Axes, points: Sequence[PlanePoint]) -> None:
    axes.margins(x=0.1, y=0.1)
    axes.autoscale_view()
    low, high = axes.get_xlim()
    if not points:
        low, high = 0.0, 1.0
        say_empty(axes)
    axes.set_xlim(max(low, 0.0), high)
    axes.set_ylim(0, max(axes.get_ylim()[1], 1e-9) if points else 1.0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(tick_text))
