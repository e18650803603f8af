"""What drawings ask of the core about packet logs."""

from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell import core
from dumbbell.core import logs
from dumbbell.results.series.run_files import Source

_ALL_UP_TO = 500_000
"""Points of a figure; of more, those that cannot be told apart in it are one."""


@dataclass(frozen=True)
class Rates:
    """Rates of a run per bin, Mbit/s: by flow into and out of the path, and the path's capacity where the log has it.

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
    """The series of a throughput figure."""
    found = logs.series(packets, bin_s)
    return Rates(
        bin_s=found["bin_s"],
        start_s=found["start_s"],
        ingress={flow["flow"]: flow["ingress_mbps"] for flow in found["flows"]},
        egress={flow["flow"]: flow["egress_mbps"] for flow in found["flows"]},
        capacity=found["capacity_mbps"],
        delay_range_ms=tuple(found["delay_range_ms"] or ()),
    )


def delays(packets: Source) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """By flow: when each data packet arrived (s since the start of the run) and how long it took (ms).

    Of more than half a million packets, only those that can be told apart in a figure over time.
    """
    columns = core.delay_points(packets, "data", _ALL_UP_TO)
    flows = numpy.frombuffer(columns[0], dtype=numpy.uint32)
    time_s, delay_ms = (numpy.frombuffer(column, dtype=numpy.float64) for column in columns[1:])
    return {int(flow): (time_s[flows == flow], delay_ms[flows == flow]) for flow in numpy.unique(flows)}


def delay_steps(packets: Source, most: int) -> dict[int, tuple[NDArray[Any], NDArray[Any]]]:
    """Return by flow the delays (ms) at which its distribution rises, and the part of its packets up to each."""
    found = {}
    for flow, *columns in core.delay_steps(packets, most):
        delay_ms, passed = map(numpy.frombuffer, columns)
        found[flow] = (delay_ms, passed / passed[-1])
    return found
