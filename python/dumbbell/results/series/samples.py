"""Time series of a run, read from its files: samples of senders and links, and rates of flows."""

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
"""Fields with the phase of a controller."""

_NAMED_VALUE = re.compile(r"(-?\d+) ([^,]+)")

NOTHING: Series = (numpy.empty(0), numpy.empty(0))


def planned_span(flow: FlowStats) -> tuple[float, float]:
    """Return the planned start and stop of a flow, s; the whole run if its statistics have none."""
    start_s, stop_s = flow.get("start_s"), flow.get("stop_s")
    return 0.0 if start_s is None else start_s, math.inf if stop_s is None else stop_s


@dataclass(frozen=True)
class FlowSamples:
    """Samples of one flow while it was active; fields that its sender does not sample are empty.

    A throughput is the new payload that arrived in the interval that ends at its time; without a packet log, the
    payload acknowledged in it.
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
    """Samples of one link; drops, marks and capacity are those of the interval that ends at their time.

    Fields without samples are empty.
    """

    name: str
    queue_packets: Series = NOTHING
    drops_packets: Series = NOTHING
    marks_packets: Series = NOTHING
    capacity_mbps: Series = NOTHING


@dataclass(frozen=True)
class RunSamples:
    """All series of a run. `jain` is Jain's index of the flows that are active in a whole interval.

    Links are in the order of the run's statistics, with the bottleneck first.
    """

    interval_s: float
    flows: tuple[FlowSamples, ...] = ()
    links: tuple[LinkSamples, ...] = ()
    jain: Series = NOTHING


@dataclass
class _FlowRates:
    """Rates of one flow by the end of their interval; `is_whole` marks those of whole intervals."""

    time_s: list[float] = field(default_factory=list)
    mbps: list[float] = field(default_factory=list)
    is_whole: list[bool] = field(default_factory=list)

    @property
    def series(self) -> Series:
        return numpy.array(self.time_s), numpy.array(self.mbps)


def value_names(unit: str) -> dict[float, str]:
    """Return the names of a field's values if its unit lists them (`0 slow start, 1 avoidance`); otherwise empty."""
    parts = [_NAMED_VALUE.fullmatch(part) for part in unit.split(", ")]
    return {float(part[1]): part[2] for part in parts if part} if len(parts) > 1 and all(parts) else {}


def read_samples(samples: Source | None) -> dict[str, dict[str, Series]]:
    """Return samples of flows or links by field and owner: flow number as text, or link; empty without samples.

    Raises:
        dumbbell.core.Error: The file is damaged.
    """
    return read_sampled(samples).series


@dataclass(frozen=True)
class Samples:
    """Samples of flows: by field and flow (its number as text), and the unit of each field."""

    series: dict[str, dict[str, Series]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


def read_sampled(samples: Source | None) -> Samples:
    """Return samples as `read_samples` does, with units.

    Raises:
        dumbbell.core.Error: The file is damaged.
    """
    result = Samples()
    for key, name, unit, times, values in core.samples(samples) if samples is not None else ():
        result.series.setdefault(name, {})[key] = (numpy.frombuffer(times), numpy.frombuffer(values))
        result.units[name] = unit
    return result


def thinned(series: Series, max_points: int = 1200) -> Series:
    """Return a series of about `most` points with the extremes of the original: no figure shows more."""
    time_s, values = series
    if len(time_s) <= max_points:
        return series
    edges = numpy.linspace(0, len(time_s), max_points // 2 + 1).astype(int)
    indices = {0, len(time_s) - 1}
    for start, end in itertools.pairwise(edges):
        indices |= {start + int(values[start:end].argmin()), start + int(values[start:end].argmax())}
    order = sorted(indices)
    return time_s[order], values[order]


def run_samples(files: Mapping[str, Source], statistics: RunStatistics, specification: RunSpec) -> RunSamples:
    """Return the series of a run from its files, its `stats.json` and its run spec.

    Raises:
        dumbbell.core.Error: A file is damaged.
    """
    interval_s = float(specification["sample_interval_s"])
    flow_samples, queues = read_samples(files.get(FLOWS)), read_samples(files.get(LINKS))
    transfers = measure_transfers(files.get(PACKETS), statistics, float(specification["duration_s"]), interval_s)
    flow_rates = _throughput(transfers, interval_s) if transfers else _acknowledged_rates(statistics, flow_samples)
    flows = [_flow(flow, specification, flow_samples, flow_rates) for flow in statistics["flows"]]
    links = [_link(link["link"], queues) for link in statistics["links"]]
    return RunSamples(interval_s, tuple(flows), tuple(links), _jain(flow_rates))


def _flow(
    flow: FlowStats,
    specification: RunSpec,
    samples: Mapping[str, Mapping[str, Series]],
    flow_rates: Mapping[int, _FlowRates],
) -> FlowSamples:
    number = int(flow["flow"])

    def series(name: str, divisor: float = 1.0) -> Series:
        time_s, values = samples.get(name, {}).get(str(number), NOTHING)
        # senders are sampled before their flow starts and after it stops, too
        start_s, stop_s = planned_span(flow)
        active = (time_s >= start_s) & (time_s <= stop_s)
        return time_s[active], values[active] / divisor

    return FlowSamples(
        flow=number,
        scheme=flow.get("scheme", ""),
        in_flight_segments=series("in_flight", _segment_bytes(specification, number)),
        srtt_ms=series("srtt"),
        throughput_mbps=flow_rates[number].series if number in flow_rates else NOTHING,
        cwnd_packets=series("cwnd"),
        ssthresh_packets=series("ssthresh"),
        pacing_mbps=series("pacing_rate"),
    )


def _segment_bytes(specification: RunSpec, flow: int) -> int:
    """Return the payload of a full packet; for external transports, that of TCP on a plain path."""
    flows = specification["flows"]
    table = flows[flow - 1].get("transport") if flow <= len(flows) else None
    return complete_transport(table or {})["payload_bytes"]


def read_links(samples: Source | None) -> dict[str, LinkSamples]:
    """Return the links of a run, by name.

    Raises:
        dumbbell.core.Error: The file is damaged.
    """
    samples_by_field = read_samples(samples)
    return {name: _link(name, samples_by_field) for name in samples_by_field.get("queue", {})}


def _link(name: str, samples: Mapping[str, Mapping[str, Series]]) -> LinkSamples:
    time_s, offered_bytes = _since_before(name, samples, "offered")
    capacity = offered_bytes * 8e-6 / numpy.diff(time_s, prepend=0.0) if len(time_s) else offered_bytes
    return LinkSamples(
        name,
        samples.get("queue", {}).get(name, NOTHING),
        _since_before(name, samples, "dropped"),
        _since_before(name, samples, "marked"),
        (time_s, capacity),
    )


def _since_before(name: str, samples: Mapping[str, Mapping[str, Series]], field_name: str) -> Series:
    """Return the increments of a counter between samples."""
    time_s, total = samples.get(field_name, {}).get(name, NOTHING)
    return time_s, numpy.diff(total, prepend=0.0) if len(total) else total


def _throughput(transfers: Transfers, interval_s: float) -> dict[int, _FlowRates]:
    """Return the rates by flow. A rest shorter than half an interval says little about the rate and is left out."""
    flow_rates: dict[int, _FlowRates] = {}
    for row in transfers.of("server", total=False):
        length_s = row.end_s - row.start_s
        if row.flow is None or length_s < interval_s / 2:
            continue
        flow = flow_rates.setdefault(row.flow, _FlowRates())
        flow.time_s.append(row.end_s)
        flow.mbps.append(row.bytes * 8e-6 / length_s)
        flow.is_whole.append(length_s > interval_s * (1 - 1e-6))
    return flow_rates


def _acknowledged_rates(
    statistics: RunStatistics, samples: Mapping[str, Mapping[str, Series]]
) -> dict[int, _FlowRates]:
    """Return the rates by flow without a packet log, from the bytes acknowledged between samples."""
    flow_rates: dict[int, _FlowRates] = {}
    for flow in statistics["flows"]:
        time_s, total = samples.get("delivered", {}).get(str(flow["flow"]), NOTHING)
        start_s, stop_s = planned_span(flow)
        active = (time_s >= start_s) & (time_s <= stop_s)
        time_s, total = time_s[active], total[active]
        if len(time_s) > 1:
            mbps = numpy.diff(total) * 8e-6 / numpy.diff(time_s)
            flow_rates[int(flow["flow"])] = _FlowRates(list(time_s[1:]), list(mbps), [True] * len(mbps))
    return flow_rates


def _jain(flow_rates: Mapping[int, _FlowRates]) -> Series:
    """Return the index over flows active in whole intervals; intervals without arrivals have no index."""
    rates: dict[float, list[float]] = {}
    for flow in flow_rates.values():
        for time_s, mbps, is_whole in zip(flow.time_s, flow.mbps, flow.is_whole, strict=True):
            if is_whole:
                rates.setdefault(time_s, []).append(mbps)
    times = sorted(rates)
    indices = zip(times, core.jain_index([rates[time_s] for time_s in times]), strict=True)
    known_indices = [(time_s, index) for time_s, index in indices if index is not None]
    return numpy.array([time_s for time_s, _ in known_indices]), numpy.array([index for _, index in known_indices])
