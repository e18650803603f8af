"""Series of packet logs for drawings, computed by the core."""

from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell import core
from dumbbell.core import logs
from dumbbell.results.series.run_files import Source

_ALL_UP_TO = 500_000
"""Maximum points of a figure; of more points, those that a reader cannot tell apart are merged."""


@dataclass(frozen=True)
class Rates:
    """Rates of a run per bin, Mbit/s: by flow into and out of the path, and the path's capacity if logged.

    Bin 0 starts at `start_s`, the time of the first packet: zero of the time axis, as in Pantheon's figures.
    `delay_range_ms` has the least and the largest one-way delay of its packets, and is empty if none arrived.
    """

    bin_s: float
    start_s: float
    ingress: dict[int, list[float]]
    egress: dict[int, list[float]]
    capacity: list[float]
    delay_range_ms: tuple[float, ...] = ()


def rates(packets: Source, bin_s: float) -> Rates:
    """Return the series of a throughput figure."""
    series = logs.series(packets, bin_s)
    return Rates(
        bin_s=series["bin_s"],
        start_s=series["start_s"],
        ingress={flow["flow"]: flow["ingress_mbps"] for flow in series["flows"]},
        egress={flow["flow"]: flow["egress_mbps"] for flow in series["flows"]},
        capacity=series["capacity_mbps"],
        delay_range_ms=tuple(series["delay_range_ms"] or ()),
    )


def delays(packets: Source) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Return arrival times (s since the start of the run) and delays (ms) of data packets, by flow.

    Of more than half a million packets, only those that a figure over time distinguishes.
    """
    columns = core.delay_points(packets, "data", _ALL_UP_TO)
    flows = numpy.frombuffer(columns[0], dtype=numpy.uint32)
    time_s, delay_ms = (numpy.frombuffer(column, dtype=numpy.float64) for column in columns[1:])
    return {int(flow): (time_s[flows == flow], delay_ms[flows == flow]) for flow in numpy.unique(flows)}


def delay_steps(packets: Source, max_steps: int) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Return the steps of each flow's delay distribution: delays (ms), and the fraction of packets up to each."""
    steps_by_flow = {}
    for flow, *columns in core.delay_steps(packets, max_steps):
        delay_ms, packets_below = map(numpy.frombuffer, columns)
        steps_by_flow[flow] = (delay_ms, packets_below / packets_below[-1])
    return steps_by_flow
