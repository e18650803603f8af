"""Flows that join and leave: the throughput of each, and below it their mean with one standard deviation.

The design is that of figure 4 of the Copa paper (NSDI 2018) and figures 6 and 11 of its reproduction.
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

_DECADES = 3.0  # below the capacity: smaller rates are at the lower edge


@dataclass(frozen=True)
class Step:
    """Rate of one flow in each of the figure's intervals, Mbit/s; NaN while it is not active."""

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
    """Return both plots as SVG; `time_s` are the ends of the intervals.

    A single flow has only the upper plot, on a linear axis.
    """
    rates = numpy.array([step.throughput_mbps for step in steps], dtype=float).reshape(len(steps), len(time_s))
    several = len(steps) > 1
    floor = _floor(rates) if several else 0.0
    curve_values = numpy.where(numpy.isnan(rates), numpy.nan, numpy.maximum(rates, floor))
    curves = [Curve(step.label, step.stroke, time_s, values) for step, values in zip(steps, curve_values, strict=True)]
    flows_panel = Panel("Throughput (Mbit/s)", curves, limit=None if several else capacity_mbps, height=165.0)
    span = time_span([flows_panel])
    with look(name):
        plot_frame = frame(165.0, 120.0) if several else frame(165.0)
        upper = plot_frame.plots[0]
        draw_panel(upper, flows_panel, span)
        if several and numpy.isfinite(rates).any():
            upper.set_yscale("log")
            upper.set_ylim(floor, 1.3 * max(float(numpy.nanmax(rates)), 10 * floor))
        if several:
            _mean(plot_frame.plots[1], time_s, rates, capacity_mbps, span)
        for axes in plot_frame.plots:
            for change_s in changes_s:
                if span[0] <= change_s <= span[1]:
                    axes.axvline(change_s, color=INK, alpha=0.55, linewidth=0.8, linestyle=(0, (1.5, 2.0)), zorder=1)
        labels = ["Throughput (Mbit/s)", "Mean of the flows, \u00b1 1 \u03c3"]
        plot_frame.finish(labels[: len(plot_frame.plots)], LINES)
        return compact(render(plot_frame.figure), name)


def _floor(rates: NDArray[Any]) -> float:
    """Return the lower end of the logarithmic axis: a power of ten."""
    largest = float(numpy.nanmax(rates)) if numpy.isfinite(rates).any() else 1.0
    smallest = float(numpy.nanmin(numpy.where(rates > 0, rates, numpy.nan))) if (rates > 0).any() else 1.0
    return float(10.0 ** numpy.floor(numpy.log10(max(smallest, largest * 10.0**-_DECADES, 1e-6))))


def _mean(
    axes: Any,  # noqa: ANN401 (matplotlib's Axes)
    time_s: NDArray[Any],
    rates: NDArray[Any],
    capacity_mbps: Steps | None,
    span: tuple[float, float],
) -> None:
    """Draw mean and standard deviation of the active flows, and dotted the rate of each in equal shares."""
    active = numpy.isfinite(rates).sum(axis=0)
    has_flows = active > 0
    if not has_flows.any():
        say_empty(axes)
        return
    active_rates = rates[:, has_flows]
    mean, deviation = numpy.nanmean(active_rates, axis=0), numpy.nanstd(active_rates, axis=0)
    fair = None
    if capacity_mbps and len(capacity_mbps.time_s):
        at = numpy.searchsorted(capacity_mbps.time_s, time_s[has_flows], side="right").clip(1) - 1
        fair = Steps(time_s[has_flows], numpy.asarray(capacity_mbps.values)[at] / active[has_flows])
    draw_panel(axes, Panel("", [Curve("", Stroke(INK, "o"), time_s[has_flows], mean)], mark=fair), span)
    axes.fill_between(
        time_s[has_flows], numpy.maximum(mean - deviation, 0), mean + deviation, color=INK, alpha=0.22, linewidth=0
    )
    axes.set_ylim(0, 1.05 * float((mean + deviation).max()))
