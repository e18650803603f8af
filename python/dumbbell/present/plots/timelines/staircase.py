"""Flows that join and leave: the throughput of each, and below it their mean with one standard deviation.

As figure 4 of the Copa paper (NSDI 2018) and figures 6 and 11 of its reproduction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty
from dumbbell.present.plots.parts.panels import Curve, Panel, Steps, draw_panel, time_span
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.parts.style import INK
from dumbbell.present.plots.parts.svg import compact

_DECADES = 3.0  # below the capacity: less than a thousandth of it is at the lower edge


@dataclass(frozen=True)
class Step:
    """One flow: its rate in each of the figure's intervals, Mbit/s; no number (NaN) where it is not active."""

    label: str
    stroke: Stroke
    throughput_mbps: NDArray[Any]


def staircase_figure(
    name: str,
    time_s: NDArray[Any],
    steps: Sequence[Step],
    capacity_mbps: Steps | None = None,
    changes_s: Sequence[float] = (),
) -> str:
    """Both plots as SVG; `time_s` are the ends of the intervals. Of one flow only the upper one, on a linear axis."""
    rates = numpy.array([step.throughput_mbps for step in steps], dtype=float).reshape(len(steps), len(time_s))
    several = len(steps) > 1
    floor = _floor(rates) if several else 0.0
    shown = numpy.where(numpy.isnan(rates), numpy.nan, numpy.maximum(rates, floor))
    curves = [Curve(step.label, step.stroke, time_s, values) for step, values in zip(steps, shown, strict=True)]
    each = Panel("Throughput (Mbit/s)", curves, limit=None if several else capacity_mbps, height=165.0)
    span = time_span([each])
    with look(name):
        framed = frame(165.0, 120.0) if several else frame(165.0)
        upper = framed.plots[0]
        draw_panel(upper, each, span)
        if several and numpy.isfinite(rates).any():
            upper.set_yscale("log")
            upper.set_ylim(floor, 1.3 * max(float(numpy.nanmax(rates)), 10 * floor))
        if several:
            _mean(framed.plots[1], time_s, rates, capacity_mbps, span)
        for axes in framed.plots:
            for change_s in changes_s:
                if span[0] <= change_s <= span[1]:
                    axes.axvline(change_s, color=INK, alpha=0.55, linewidth=0.8, linestyle=(0, (1.5, 2.0)), zorder=1)
        labels = ["Throughput (Mbit/s)", "Mean of the flows, \u00b1 1 \u03c3"]
        framed.finish(labels[: len(framed.plots)], LINES)
        return compact(render(framed.figure), name)


def _floor(rates: NDArray[Any]) -> float:
    """The lower end of the logarithmic axis: a power of ten."""
    most = float(numpy.nanmax(rates)) if numpy.isfinite(rates).any() else 1.0
    least = float(numpy.nanmin(numpy.where(rates > 0, rates, numpy.nan))) if (rates > 0).any() else 1.0
    return float(10.0 ** numpy.floor(numpy.log10(max(least, most * 10.0**-_DECADES, 1e-6))))


def _mean(
    axes: Any,  # noqa: ANN401 (matplotlib's Axes)
    time_s: NDArray[Any],
    rates: NDArray[Any],
    capacity_mbps: Steps | None,
    span: tuple[float, float],
) -> None:
    """Mean and standard deviation of the flows that are active, and dotted what each would have in equal shares."""
    active = numpy.isfinite(rates).sum(axis=0)
    known = active > 0
    if not known.any():
        say_empty(axes)
        return
    found = rates[:, known]
    mean, deviation = numpy.nanmean(found, axis=0), numpy.nanstd(found, axis=0)
    fair = None
    if capacity_mbps and len(capacity_mbps.time_s):
        at = numpy.searchsorted(capacity_mbps.time_s, time_s[known], side="right").clip(1) - 1
        fair = Steps(time_s[known], numpy.asarray(capacity_mbps.values)[at] / active[known])
    draw_panel(axes, Panel("", [Curve("", Stroke(INK, "o"), time_s[known], mean)], mark=fair), span)
    axes.fill_between(
        time_s[known], numpy.maximum(mean - deviation, 0), mean + deviation, color=INK, alpha=0.22, linewidth=0
    )
    axes.set_ylim(0, 1.05 * float((mean + deviation).max()))
