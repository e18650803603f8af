"""Figures of a run: throughput over time, and the one-way delay of every packet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from dumbbell.present.plots.parts.axis import DelayAxis
from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import DOTS, PAIRS, frame, value_limits
from dumbbell.present.plots.parts.raster import Cloud, dots
from dumbbell.present.plots.parts.style import SHADE, flow_color
from dumbbell.present.plots.parts.svg import compact, place_image

_PLOT = 165.0  # points


@dataclass(frozen=True)
class FlowRates:
    """Rates of one flow per bin, and the means for the legend; None without traffic."""

    flow: int
    name: str
    ingress_mbps: Sequence[float]
    egress_mbps: Sequence[float]
    mean_ingress_mbps: float | None
    mean_egress_mbps: float | None


@dataclass(frozen=True)
class FlowDelays:
    """Packets of one flow: arrival times, delays (one way, or `round_trip`), and the percentile for the legend.

    `note` is a remark of the legend on the percentile.
    """

    flow: int
    name: str
    time_s: NDArray[Any]
    delay_ms: NDArray[Any]
    delay_p95_ms: float | None
    round_trip: bool = False
    note: str = ""


def throughput_figure(
    name: str,
    flows: Sequence[FlowRates],
    bin_s: float,
    capacity_mbps: Sequence[float],
    mean_capacity_mbps: float | None,
) -> str:
    """Return rates into the path (dashed) and out of it (solid) as SVG, over the capacity.

    Rates into the path stand at the start of each bin, rates out of it at the end.
    """
    with look(name):
        plot_frame = frame(_PLOT)
        axes = plot_frame.plots[0]
        if capacity_mbps:
            capacity_steps = [*capacity_mbps, capacity_mbps[-1]]  # up to the end of the last bin
            axes.fill_between(
                _starts(capacity_steps, bin_s), 0, capacity_steps, step="post", color=SHADE, linewidth=0, zorder=0.5
            )
        if mean_capacity_mbps is not None:
            axes.set_title(f"Average capacity {mean_capacity_mbps:.2f} Mbit/s (shaded region)", pad=7)
        for flow in flows:
            color = flow_color(flow.flow)
            ingress = f"{flow.name} ingress (mean {_mean(flow.mean_ingress_mbps)} Mbit/s)"
            egress = f"{flow.name} egress (mean {_mean(flow.mean_egress_mbps)} Mbit/s)"
            if flow.ingress_mbps:
                into, times = flow.ingress_mbps, _starts(flow.ingress_mbps, bin_s)
                axes.plot(times, into, color=color, linestyle="--", linewidth=1.0, label=ingress)
            if flow.egress_mbps:
                out = [0.0, *flow.egress_mbps]
                axes.plot(_starts(out, bin_s), out, color=color, linewidth=1.3, label=egress)
        bins = max([len(capacity_mbps), *(len(flow.egress_mbps or flow.ingress_mbps) for flow in flows)], default=0)
        axes.set_xlim(0, max(bins * bin_s, bin_s))
        axes.set_ylim(bottom=0)
        plot_frame.finish(["Throughput (Mbit/s), with headers"], PAIRS)
        return compact(render(plot_frame.figure), name)


def delay_figure(name: str, flows: Sequence[FlowDelays], start_s: float = 0.0, axis: DelayAxis | None = None) -> str:
    """Return a figure with a dot for every packet that arrived: its arrival time since `start_s`, and its delay.

    The delays are on the given axis, or on a linear one that fits them.
    """
    with look(name):
        plot_frame = frame(_PLOT)
        axes = plot_frame.plots[0]
        end_s = max((float(flow.time_s.max()) - start_s for flow in flows if len(flow.time_s)), default=1.0)
        axes.set_xlim(0.0, float(max(math.ceil(end_s), 1)))
        if axis:
            axis.apply(axes, upwards=True)
        else:
            axes.set_ylim(*value_limits([flow.delay_ms for flow in flows]))
        scale = axes.yaxis.get_transform().transform
        low, high = (float(end) for end in scale(numpy.array(axes.get_ylim())))
        span = (*axes.get_xlim(), low, high)
        axes.add_patch(Rectangle((0, 0), 0, 0, gid="packets"))
        for flow in flows:
            label = f"{flow.name} (95th percentile {_mean(flow.delay_p95_ms)} ms{flow.note})"
            axes.plot([], [], ".", color=flow_color(flow.flow), markersize=8, label=label)
        logarithmic = axis is not None and axis.logarithmic
        delay_name = "round-trip time" if any(flow.round_trip for flow in flows) else "one-way delay"
        plot_frame.finish([f"Per-packet {delay_name} (ms){', log' if logarithmic else ''}"], DOTS)
        drawing = render(plot_frame.figure)
    clouds = [
        Cloud(flow.time_s - start_s, scale(flow.delay_ms), flow_color(flow.flow)) for flow in flows if len(flow.time_s)
    ]
    if clouds:
        drawing = place_image(drawing, "packets", dots(clouds, span, plot_frame.size(0)), plot_frame.box(0))
    return compact(drawing, name)


def _starts(values: Sequence[float], bin_s: float) -> NDArray[Any]:
    return numpy.arange(len(values)) * bin_s


def _mean(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
