"""Fields computed from sampled ones, by the formulas of the sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.results.series.samples import Series
from dumbbell_conformance.view import DerivedField, RunView

Values = NDArray[Any]


def combine(view: RunView, formula: Callable[..., Values], *names: str) -> Series:
    """Return a formula of several fields, at every time at which one of the fields changed."""
    series = [view.series(name) for name in names]
    times = numpy.unique(numpy.concatenate([time_s for time_s, _ in series]))
    times = times[times >= max(time_s[0] for time_s, _ in series if len(time_s))]
    latest = [values[numpy.searchsorted(time_s, times, "right") - 1] for time_s, values in series]
    return times, formula(*latest)


def _in_flight(view: RunView) -> Series:
    """Return the packets in flight."""
    time_s, values = view.series("in_flight")
    return time_s, values / view.payload_bytes


def _window(view: RunView) -> Series:
    """Return the window that limits the sender, packets: the controller's, or that of a recovery."""
    time_s, values = view.series("window")
    return time_s, values / view.payload_bytes


def _bdp(rate: str) -> DerivedField:
    """Return the function for the BDP of an estimated rate (Mbit/s) and `min_rtt` (ms), packets."""

    def bdp(view: RunView) -> Series:
        return combine(view, lambda mbps, ms: mbps * ms * 1e3 / 8.0 / view.payload_bytes, rate, "min_rtt")

    return bdp


MAX_QUANTUM_BYTES, MIN_QUANTUM, MIN_PIPE, BUDGET = 65_536.0, 2.0, 4.0, 3.0
"""Constants of BBR: largest send quantum, bytes; smallest quantum, packets; MinPipeCwnd, packets; quanta in the offload
budget."""


def _bbr_inflight(rate: str) -> DerivedField:
    """Return BBRInflight(1.0) of draft-ietf-ccwg-bbr ("Computing BBR.max_inflight", "Send Quantum"), packets."""

    def inflight(view: RunView) -> Series:
        def formula(mbps: Values, ms: Values, pacing: Values) -> Values:
            bdp = mbps * ms * 1e3 / 8.0 / view.payload_bytes
            quantum = numpy.minimum(pacing * 1e3 / 8.0, MAX_QUANTUM_BYTES) / view.payload_bytes
            budget = BUDGET * numpy.maximum(quantum, MIN_QUANTUM)
            return numpy.maximum(numpy.maximum(bdp, budget), MIN_PIPE)

        return combine(view, formula, rate, "min_rtt", "pacing_rate")

    return inflight


def _headroom(view: RunView) -> Series:
    """Return BBRInflightWithHeadroom(), packets: the long-term bound less 15 %; infinite while unset."""
    time_s, bound = view.series("inflight_longterm")
    with_room = numpy.maximum(bound - numpy.maximum(0.15 * bound, 1.0), MIN_PIPE)
    return time_s, numpy.where(bound > 0.0, with_room, numpy.inf)


def _down_target(view: RunView) -> Series:
    """Return the end of ProbeBW_DOWN, packets: the smaller of BBRInflightWithHeadroom() and BBRInflight(1.0)."""
    return combine(view, numpy.minimum, "headroom", "bbr_inflight_max")


def _target(view: RunView) -> Series:
    """Return TargetInflight() of draft-ietf-ccwg-bbr, packets: the smaller of the BDP and the window."""
    return combine(view, numpy.minimum, "bdp", "cwnd")


def _augmented(view: RunView) -> Series:
    """Return BBR's window in cruise, packets: two BDP and the aggregation allowance."""
    return combine(view, lambda bdp, extra: 2.0 * bdp + extra, "bdp", "extra_acked")


def _capacity(view: RunView) -> Series:
    """Return the payload that the bottleneck can carry, Mbit/s."""
    times, _ = view.rates_mbps
    return times, numpy.array([view.capacity_mbps(time_s) for time_s in times])


def _path_bdp(view: RunView) -> Series:
    """Return the BDP of the path, packets."""
    time_s, mbps = _capacity(view)
    return time_s, mbps * view.base_rtt_ms * 1e3 / 8.0 / view.payload_bytes


DERIVED: Mapping[str, DerivedField] = {
    "in_flight_packets": _in_flight,
    "window_packets": _window,
    "bdp": _bdp("bw"),
    "bdp_max": _bdp("max_bw"),
    "bbr_inflight": _bbr_inflight("bw"),
    "bbr_inflight_max": _bbr_inflight("max_bw"),
    "headroom": _headroom,
    "down_target": _down_target,
    "target": _target,
    "augmented": _augmented,
    "capacity": _capacity,
    "path_bdp": _path_bdp,
}
"""Computed fields by name, in packets; `capacity` in Mbit/s."""
