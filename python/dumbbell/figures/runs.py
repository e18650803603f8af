"""The figures of a run: throughput over time, the one-way delay of every packet, and what its senders sampled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from dumbbell.figures.canvas import look, render, renderer
from dumbbell.figures.raster import Cloud, dots
from dumbbell.figures.style import SHADE, flow_color
from dumbbell.figures.svg import compact, place_image

_WIDTH = 420.0  # points
_PLOT = 165.0
_LEFT, _RIGHT, _ABOVE, _BELOW = 52.0, 9.0, 24.0, 44.0
_LEGEND_BELOW = 36.0  # from the axes to the legend
_TWO_COLUMNS = ((2, 9.0), (2, 8.0), (2, 7.0), (1, 8.0), (1, 7.0))
_THREE_COLUMNS = ((3, 9.0), (3, 8.0), (2, 8.5), (2, 7.5), (1, 8.0), (1, 7.0))
_MOST_ENTRIES = 24  # legend entries; the tables list every flow


@dataclass(frozen=True)
class FlowRates:
    """One flow's rates per bin, and the means its legend shows; None where there was no traffic."""

    flow: int
    name: str
    ingress_mbps: Sequence[float]
    egress_mbps: Sequence[float]
    mean_ingress_mbps: float | None
    mean_egress_mbps: float | None


@dataclass(frozen=True)
class FlowDelays:
    """One flow's packets: when, and how long each took; and the percentile its legend shows."""

    flow: int
    name: str
    time_s: NDArray[Any]
    delay_ms: NDArray[Any]
    delay_p95_ms: float | None


@dataclass(frozen=True)
class FlowSamples:
    """One flow's sampled values: when, and what."""

    flow: int
    name: str
    time_s: NDArray[Any]
    values: NDArray[Any]


def throughput_figure(
    name: str,
    flows: Sequence[FlowRates],
    bin_s: float,
    capacity_mbps: Sequence[float],
    mean_capacity_mbps: float | None,
) -> str:
    """Rates into the path (dashed, at the start of each bin) and out of it (solid, at its end), over the capacity."""
    with look(name):
        figure, axes = _figure()
        if capacity_mbps:
            held = [*capacity_mbps, capacity_mbps[-1]]  # up to the end of the last bin
            axes.fill_between(_starts(held, bin_s), 0, held, color=SHADE, linewidth=0, zorder=0.5)
        if mean_capacity_mbps is not None:
            axes.set_title(f"Average capacity {mean_capacity_mbps:.2f} Mbit/s (shaded region)", pad=7)
        for flow in flows:
            color, label = flow_color(flow.flow), f"Flow {flow.flow}{flow.name}"
            ingress = f"{label} ingress (mean {_mean(flow.mean_ingress_mbps)} Mbit/s)"
            egress = f"{label} egress (mean {_mean(flow.mean_egress_mbps)} Mbit/s)"
            axes.plot(
                _starts(flow.ingress_mbps, bin_s),
                flow.ingress_mbps,
                color=color,
                linestyle="--",
                linewidth=1.0,
                label=ingress,
            )
            out = [0.0, *flow.egress_mbps]
            axes.plot(_starts(out, bin_s), out, color=color, linewidth=1.3, label=egress)
        bins = max([len(capacity_mbps), *(len(flow.egress_mbps) for flow in flows)], default=0)
        axes.set_xlim(0, max(bins * bin_s, bin_s))
        axes.set_ylim(bottom=0)
        _finish(figure, axes, "Throughput (Mbit/s)", _TWO_COLUMNS)
        return compact(render(figure), name)


def delay_figure(name: str, flows: Sequence[FlowDelays], start_s: float = 0.0) -> str:
    """A dot for every packet that arrived: when it did, counted from `start_s`, and how long it took."""
    with look(name):
        figure, axes = _figure()
        end_s = max((float(flow.time_s.max()) - start_s for flow in flows if len(flow.time_s)), default=1.0)
        span = (0.0, float(max(math.ceil(end_s), 1)), *_delay_limits(flows))
        axes.set_xlim(span[0], span[1])
        axes.set_ylim(span[2], span[3])
        axes.add_patch(Rectangle((0, 0), 0, 0, gid="packets"))
        for flow in flows:
            label = f"Flow {flow.flow}{flow.name} (95th percentile {_mean(flow.delay_p95_ms)} ms)"
            axes.plot([], [], ".", color=flow_color(flow.flow), markersize=8, label=label)
        _finish(figure, axes, "Per-packet one-way delay (ms)", _THREE_COLUMNS)
        drawing = render(figure)
    clouds = [Cloud(flow.time_s - start_s, flow.delay_ms, flow_color(flow.flow)) for flow in flows if len(flow.time_s)]
    width = _WIDTH - _LEFT - _RIGHT
    if clouds:
        drawing = place_image(drawing, "packets", dots(clouds, span, (width, _PLOT)), (_LEFT, _ABOVE, width, _PLOT))
    return compact(drawing, name)


def samples_figure(name: str, flows: Sequence[FlowSamples], y_label: str, start_s: float = 0.0) -> str:
    """A line for every flow's samples, which hold until the next one; times count from `start_s`."""
    with look(name):
        figure, axes = _figure()
        for flow in flows:
            axes.plot(
                flow.time_s - start_s,
                flow.values,
                color=flow_color(flow.flow),
                drawstyle="steps-post",
                linewidth=1.2,
                label=f"Flow {flow.flow}{flow.name}",
            )
        end_s = max((float(flow.time_s.max()) - start_s for flow in flows if len(flow.time_s)), default=1.0)
        axes.set_xlim(0, float(max(math.ceil(end_s), 1)))
        axes.set_ylim(bottom=0)
        _finish(figure, axes, y_label, _THREE_COLUMNS)
        return compact(render(figure), name)


def _figure() -> tuple[Figure, Axes]:
    figure = Figure()
    axes = figure.add_axes((0, 0, 1, 1))
    _lay_out(figure, axes, 0.0)
    return figure, axes


def _lay_out(figure: Figure, axes: Axes, legend: float) -> None:
    """Gives the plot its size and place, above a legend of the given height."""
    height = _ABOVE + _PLOT + _BELOW + legend
    figure.set_size_inches(_WIDTH / 72, height / 72)
    bottom = (_BELOW + legend) / height
    axes.set_position((_LEFT / _WIDTH, bottom, (_WIDTH - _LEFT - _RIGHT) / _WIDTH, _PLOT / height))


def _finish(figure: Figure, axes: Axes, y_label: str, layouts: Sequence[tuple[int, float]]) -> None:
    """Labels, and a legend in the first of `layouts` (columns, letter size) that fits the width."""
    axes.set_xlabel("Time (s)")
    axes.set_ylabel(y_label)
    axes.yaxis.set_label_coords(-(_LEFT - 12) / (_WIDTH - _LEFT - _RIGHT), 0.5)  # clear of ticks up to 99999
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.5g}"))
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    paired = layouts is _TWO_COLUMNS  # ingress left, egress right: columns are filled from the top
    if paired:
        handles, labels = [*handles[::2], *handles[1::2]], [*labels[::2], *labels[1::2]]
    if len(handles) > _MOST_ENTRIES:
        handles, labels = _shortened(handles, labels, paired)
    measure = renderer(figure)
    middle = (_WIDTH / 2 - _LEFT) / (_WIDTH - _LEFT - _RIGHT)
    for columns, size in layouts:
        legend = axes.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(middle, -_LEGEND_BELOW / _PLOT),
            ncols=min(columns, len(handles)),
            fontsize=size,
            handlelength=1.8 if paired else 1.0,
            handletextpad=0.5,
            columnspacing=1.2,
        )
        extent = legend.get_window_extent(measure)
        if extent.width <= _WIDTH - 4:
            break
    _lay_out(figure, axes, extent.height)


def _shortened(handles: Sequence[Any], labels: Sequence[str], paired: bool) -> tuple[list[Any], list[str]]:
    """As many legend entries as fit, evenly from both columns, and a last one that says how many are left out."""
    half, kept = len(handles) // 2, _MOST_ENTRIES // 2
    keep = [*range(kept), *range(half, half + kept - 1)] if paired else list(range(_MOST_ENTRIES - 1))
    rest = f"... and {len(handles) - len(keep)} more, see the table"
    return [*(handles[i] for i in keep), Patch(alpha=0)], [*(labels[i] for i in keep), rest]


def _starts(values: Sequence[float], bin_s: float) -> NDArray[Any]:
    return numpy.arange(len(values)) * bin_s


def _delay_limits(flows: Sequence[FlowDelays]) -> tuple[float, float]:
    """Limits with a little air, from 0 unless the delays stay far from it."""
    values = [flow.delay_ms for flow in flows if len(flow.delay_ms)]
    if not values:
        return (0.0, 1.0)
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    air = 0.05 * (high - low) or max(0.05 * abs(high), 0.5)
    return (low - air, high + air)


def _mean(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
