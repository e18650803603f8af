"""The time series of a run, read from its files: what senders and links sampled, and what flows received."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from dumbbell import core
from dumbbell.core.paths import complete_transport
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS, Source
from dumbbell.results.series.transfers import Transfers, measure_transfers

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.specification import RunSpec
    from dumbbell.contract.statistics import FlowStats

Series = tuple[NDArray[Any], NDArray[Any]]
"""Times (s since the start of the run) and values."""

STATE_FIELDS = ("phase", "state", "mode")
"""Fields by which controllers tell the phase that they are in."""

_NAMED = re.compile(r"(-?\d+) ([^,]+)")

NOTHING: Series = (numpy.empty(0), numpy.empty(0))


def planned_span(flow: FlowStats) -> tuple[float, float]:
    """Return when a flow was to start and to stop, s; all of the run if its statistics do not tell."""
    start_s, stop_s = flow.get("start_s"), flow.get("stop_s")
    return 0.0 if start_s is None else start_s, math.inf if stop_s is None else stop_s


@dataclass(frozen=True)
class FlowSamples:
    """One flow while it was active. What its sender does not sample is empty.

    Throughput at a time is new payload that arrived in the interval that ends then; of a run without a packet log, what
    was acknowledged in it.
    """

    flow: int
    scheme: str
    in_flight_segments: Series = NOTHING
    srtt_ms: Series = NOTHING
    throughput_mbps: Series = NOTHING
    cwnd_packets: Series = NOTHING
    ssthresh_packets: Series = NOTHING
    pacing_mbps: Series = NOTHING


@dataclass(frozen=True)
class LinkSamples:
    """One link; drops and marks at a time, and what it could have carried, are of the interval that ends then.

    What was not sampled is empty.
    """

    name: str
    queue_packets: Series = NOTHING
    drops_packets: Series = NOTHING
    marks_packets: Series = NOTHING
    capacity_mbps: Series = NOTHING


@dataclass(frozen=True)
class RunSamples:
    """All series of a run. `jain` is Jain's index of the flows that are active in a whole interval.

    Links are in the order of the run's statistics, the bottleneck first.
    """

    interval_s: float
    flows: tuple[FlowSamples, ...] = ()
    links: tuple[LinkSamples, ...] = ()
    jain: Series = NOTHING


@dataclass
class _Received:
    """Rates of one flow by the end of their interval, and which of them are of whole intervals."""

    time_s: list[float] = field(default_factory=list)
    mbps: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)

    @property
    def series(self) -> Series:
        return numpy.array(self.time_s), numpy.array(self.mbps)


def value_names(unit: str) -> dict[float, str]:
    """Return the names of a field's values if its unit lists them (`0 slow start, 1 avoidance`), else nothing."""
    parts = [_NAMED.fullmatch(part) for part in unit.split(", ")]
    return {float(part[1]): part[2] for part in parts if part} if len(parts) > 1 and all(parts) else {}


def read_samples(samples: Source | None) -> dict[str, dict[str, Series]]:
    """What samples of flows or links have, by field and flow (its number as text) or link; nothing if there are none.

    Raises:
        dumbbell.core.Error: the file is damaged.
    """
    return read_sampled(samples).series


@dataclass(frozen=True)
class Sampled:
    """What samples of flows have: by field and flow (its number as text), and the unit of each field."""

    series: dict[str, dict[str, Series]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


def read_sampled(samples: Source | None) -> Sampled:
    """As `read_samples`, with units.

    Raises:
        dumbbell.core.Error: the file is damaged.
    """
    found = Sampled()
    for key, name, unit, times, values in core.samples(samples) if samples is not None else ():
        found.series.setdefault(name, {})[key] = (numpy.frombuffer(times), numpy.frombuffer(values))
        found.units[name] = unit
    return found


def thinned(series: Series, most: int = 1200) -> Series:
    """A series that has about `most` points and the same extremes everywhere: more than that no figure shows."""
    time_s, values = series
    if len(time_s) <= most:
        return series
    edges = numpy.linspace(0, len(time_s), most // 2 + 1).astype(int)
    kept = {0, len(time_s) - 1}
    for start, end in itertools.pairwise(edges):
        kept |= {start + int(values[start:end].argmin()), start + int(values[start:end].argmax())}
    order = sorted(kept)
    return time_s[order], values[order]


def run_samples(kept: Mapping[str, Source], statistics: RunStatistics, specification: RunSpec) -> RunSamples:
    """The series of a run: what it kept, its `stats.json` and what the core was given for it.

    Raises:
        dumbbell.core.Error: one of the files is damaged.
    """
    interval_s = float(specification["sample_interval_s"])
    sampled, queues = read_samples(kept.get(FLOWS)), read_samples(kept.get(LINKS))
    transfers = measure_transfers(kept.get(PACKETS), statistics, float(specification["duration_s"]), interval_s)
    received = _throughput(transfers, interval_s) if transfers else _acknowledged(statistics, sampled)
    flows = [_flow(flow, specification, sampled, received) for flow in statistics["flows"]]
    links = [_link(link["link"], queues) for link in statistics["links"]]
    return RunSamples(interval_s, tuple(flows), tuple(links), _jain(received))


def _flow(
    flow: FlowStats,
    specification: RunSpec,
    sampled: Mapping[str, Mapping[str, Series]],
    received: Mapping[int, _Received],
) -> FlowSamples:
    number = int(flow["flow"])

    def series(name: str, divisor: float = 1.0) -> Series:
        time_s, values = sampled.get(name, {}).get(str(number), NOTHING)
        # senders are sampled before their flow starts and after it stops, too
        start_s, stop_s = planned_span(flow)
        active = (time_s >= start_s) & (time_s <= stop_s)
        return time_s[active], values[active] / divisor

    return FlowSamples(
        flow=number,
        scheme=flow.get("scheme", ""),
        in_flight_segments=series("in_flight", _segment_bytes(specification, number)),
        srtt_ms=series("srtt"),
        throughput_mbps=received[number].series if number in received else NOTHING,
        cwnd_packets=series("cwnd"),
        ssthresh_packets=series("ssthresh"),
        pacing_mbps=series("pacing_rate"),
    )


def _segment_bytes(specification: RunSpec, flow: int) -> int:
    """Payload of a full packet; of flows with a transport that is not ours, TCP's on a plain path."""
    flows = specification["flows"]
    table = flows[flow - 1].get("transport") if flow <= len(flows) else None
    return complete_transport(table or {})["payload_bytes"]


def read_links(samples: Source | None) -> dict[str, LinkSamples]:
    """The links of a run, by name.

    Raises:
        dumbbell.core.Error: the file is damaged.
    """
    sampled = read_samples(samples)
    return {name: _link(name, sampled) for name in sampled.get("queue", {})}


def _link(name: str, sampled: Mapping[str, Mapping[str, Series]]) -> LinkSamples:
    time_s, offered = _since_before(name, sampled, "offered")
    capacity = offered * 8e-6 / numpy.diff(time_s, prepend=0.0) if len(time_s) else offered
    return LinkSamples(
        name,
        sampled.get("queue", {}).get(name, NOTHING),
        _since_before(name, sampled, "dropped"),
        _since_before(name, sampled, "marked"),
        (time_s, capacity),
    )


def _since_before(name: str, sampled: Mapping[str, Mapping[str, Series]], field_name: str) -> Series:
    """What a counter counted between samples."""
    time_s, total = sampled.get(field_name, {}).get(name, NOTHING)
    return time_s, numpy.diff(total, prepend=0.0) if len(total) else total


def _throughput(transfers: Transfers, interval_s: float) -> dict[int, _Received]:
    """By flow. A rest shorter than half an interval says little about the rate: it is left out."""
    received: dict[int, _Received] = {}
    for row in transfers.of("server", total=False):
        length_s = row.end_s - row.start_s
        if row.flow is None or length_s < interval_s / 2:
            continue
        flow = received.setdefault(row.flow, _Received())
        flow.time_s.append(row.end_s)
        flow.mbps.append(row.bytes * 8e-6 / length_s)
        flow.whole.append(length_s > interval_s * (1 - 1e-6))
    return received


def _acknowledged(statistics: RunStatistics, sampled: Mapping[str, Mapping[str, Series]]) -> dict[int, _Received]:
    """The same of a run without a packet log: what its senders learnt to have arrived between their samples."""
    received: dict[int, _Received] = {}
    for flow in statistics["flows"]:
        time_s, total = sampled.get("delivered", {}).get(str(flow["flow"]), NOTHING)
        start_s, stop_s = planned_span(flow)
        active = (time_s >= start_s) & (time_s <= stop_s)
        time_s, total = time_s[active], total[active]
        if len(time_s) > 1:
            mbps = numpy.diff(total) * 8e-6 / numpy.diff(time_s)
            received[int(flow["flow"])] = _Received(list(time_s[1:]), list(mbps), [True] * len(mbps))
    return received


def _jain(received: Mapping[int, _Received]) -> Series:
    """Over the flows that are active in the whole interval; intervals in which nothing arrived have no index."""
    rates: dict[float, list[float]] = {}
    for flow in received.values():
        for time_s, mbps, whole in zip(flow.time_s, flow.mbps, flow.whole, strict=True):
            if whole:
                rates.setdefault(time_s, []).append(mbps)
    times = sorted(rates)
    found = zip(times, core.jain_index([rates[time_s] for time_s in times]), strict=True)
    known = [(time_s, index) for time_s, index in found if index is not None]
    return numpy.array([time_s for time_s, _ in known]), numpy.array([index for _, index in known])
