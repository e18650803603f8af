"""In Flight vs Mean Operating Point: mean throughput and mean smoothed RTT over the mean amount in flight.

As ccperf.net draws it for experiment #15.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import DOTS, frame, say_empty, value_limits
from dumbbell.present.plots.parts.strokes import Look, marker_look
from dumbbell.present.plots.parts.style import INK, OPTIMUM, Style
from dumbbell.present.plots.parts.svg import compact

_HEIGHT = 125.0  # points
_RING: Look = {
    "marker": "o",
    "markersize": 11,
    "markerfacecolor": "none",
    "markeredgecolor": INK,
    "markeredgewidth": 1.6,
}


@dataclass(frozen=True)
class OperatingPoint:
    """Where one flow, or one scheme, worked on average."""

    label: str
    style: Style
    in_flight: float
    throughput_mbps: float
    srtt_ms: float


@dataclass(frozen=True)
class Optimum:
    """In flight = BDP, the full rate, the base RTT."""

    in_flight: float
    throughput_mbps: float
    srtt_ms: float


def in_flight_figure(
    name: str,
    points: Sequence[OperatingPoint],
    *,
    optimum: Optimum | None = None,
    joint: tuple[float, float, float] | None = None,
    x_label: str = "Mean in flight (segments)",
) -> str:
    """Two plots over the same axis as SVG.

    The optimum is a star; dotted lines are what any amount in flight gives at best: the rate grows up to the BDP, the
    RTT beyond it. `joint` is (in flight, aggregate throughput, mean sRTT) of all flows together.
    """
    spots = [(point.label, _place(point), marker_look(point.style, 8.0)) for point in points]
    if joint:
        spots.append(("Joint", joint, _RING))
    if optimum:
        spots.append(("Optimum", _place(optimum), marker_look(Style(OPTIMUM, "*"), 12.0)))
    end = 1.08 * max((place[0] for _, place, _ in spots), default=0.0) or 1.0
    with look(name):
        framed = frame(_HEIGHT, _HEIGHT)
        for index, plot in enumerate(framed.plots, start=1):
            plot.set_xlim(0, end)
            if index == 1:
                plot.set_ylim(0, 1.1 * max((place[1] for _, place, _ in spots), default=0.0) or 1.0)
            else:
                plot.set_ylim(*value_limits([numpy.array([place[2] for _, place, _ in spots])]))
            if optimum:
                ideal = _ideal(optimum, end)
                plot.plot(ideal[0], ideal[index], color=INK, alpha=0.5, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
            if not spots:
                say_empty(plot)
            for label, place, marker in spots:
                plot.plot(place[0], place[index], linestyle="none", label=label, clip_on=False, zorder=3, **marker)
        framed.finish(["Throughput (Mbit/s)", "sRTT (ms)"], DOTS, (x_label,))
        return compact(render(framed.figure), name)


def _place(point: OperatingPoint | Optimum) -> tuple[float, float, float]:
    return (point.in_flight, point.throughput_mbps, point.srtt_ms)


def _ideal(optimum: Optimum, end: float) -> tuple[list[float], list[float], list[float]]:
    """Corners of the best throughput and the best RTT over what is in flight."""
    beyond = max(end, optimum.in_flight)
    stretch = beyond / optimum.in_flight if optimum.in_flight > 0 else 1.0
    return (
        [0.0, optimum.in_flight, beyond],
        [0.0, optimum.throughput_mbps, optimum.throughput_mbps],
        [optimum.srtt_ms, optimum.srtt_ms, optimum.srtt_ms * stretch],
    )
