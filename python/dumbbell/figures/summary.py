"""The two summary figures of a path: throughput over delay, per run and as the mean of each scheme."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from dumbbell.figures.axis import delay_axis
from dumbbell.figures.canvas import look, render
from dumbbell.figures.scatter import Scatter
from dumbbell.figures.style import Style
from dumbbell.figures.svg import compact

_FEW = 12  # names find room among the points


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
        scatter = Scatter(title)
        scatter.axes.set_xlabel("95th percentile one-way delay (ms)")
        scatter.axes.set_ylabel("Average throughput (Mbit/s)")
        titles = {}
        for index, point in enumerate(points):
            scatter.point(point.delay_ms, point.throughput_mbps, point.style, f"point{index}")
            titles[f"point{index}"] = point.title
        _scale(scatter.axes, points)
        if points and annotate:
            scatter.annotate([(point.delay_ms, point.throughput_mbps, point.name) for point in points])
        elif points:
            scatter.legend({point.name: point.style for point in points})
        else:
            why = "no run tells both a throughput\nand a one-way delay"
            scatter.axes.text(0.5, 0.5, why, transform=scatter.axes.transAxes, ha="center", va="center")
        return compact(render(scatter.figure), name, titles)


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
