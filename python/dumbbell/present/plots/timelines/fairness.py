"""Fairness over time: Jain's index, and below it the flows' shares of the throughput."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import DOTS, frame, say_empty
from dumbbell.present.plots.parts.panels import Curve, Panel, draw_panel, time_span
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.parts.style import GROUND, INK
from dumbbell.present.plots.parts.svg import compact
from dumbbell.present.plots.timelines.operating_point import Points

# Hatches that distinguish areas in grey: strokes only, as dots would make large files.
_HATCHES = ("", "////", "\\\\\\\\", "----", "||||", "xxxx", "++++", "//--", "\\\\||")


@dataclass(frozen=True)
class Share:
    """Throughput of one flow in each of the figure's intervals, Mbit/s; 0 while it is not active."""

    label: str
    color: str
    throughput_mbps: NDArray[Any]


def fairness_figure(name: str, time_s: NDArray[Any], shares: Sequence[Share], jain: Points) -> str:
    """Return Jain's index and the stacked shares as SVG; `time_s` are the ends of the intervals of `shares`."""
    index = Panel("Jain's index", [Curve("", Stroke(INK, "o"), *jain)], highest=1.03, height=70.0)
    span = time_span([index, Panel("", [Curve("", Stroke(INK, "o"), time_s, time_s)])])
    with look(name):
        plot_frame = frame(index.height, 140.0)
        upper, lower = plot_frame.plots
        draw_panel(upper, index, span)
        lower.set_xlim(*span)
        lower.set_ylim(0, 1)
        if len(time_s) and shares:
            _stack(lower, time_s, shares)
        else:
            say_empty(lower)
        plot_frame.finish(["Jain's index", "Share"], DOTS)
        return compact(render(plot_frame.figure), name)


def _stack(axes: Axes, time_s: NDArray[Any], shares: Sequence[Share]) -> None:
    rates = numpy.array([share.throughput_mbps for share in shares], dtype=float)
    total = rates.sum(axis=0)
    parts = numpy.divide(rates, total, out=numpy.zeros_like(rates), where=total > 0)
    edges = numpy.concatenate([[max(2 * time_s[0] - time_s[1], 0.0) if len(time_s) > 1 else 0.0], time_s])
    top = numpy.zeros(len(time_s) + 1)
    for position, (share, part) in enumerate(zip(shares, parts, strict=True)):
        bottom, top = top, top + numpy.concatenate([part[:1], part])
        axes.fill_between(
            edges,
            bottom,
            top,
            facecolor=GROUND if sheet().is_plain else share.color,
            edgecolor=INK,
            hatch=_HATCHES[position % len(_HATCHES)],
            linewidth=0.3,
            alpha=0.75,
            label=share.label,
        )
