"""The first packet that differs between two runs with equal draws, and the state of the senders there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.base.entry import Entry
from dumbbell.results.series.run_files import FLOWS, PACKETS, Source, kept_files, read_table
from dumbbell.results.series.samples import read_sampled
from dumbbell.results.series.table import Table

_COLUMNS = ("time_ns", "flow", "event", "seq", "size_bytes")
_MOST_FIELDS = 12
_ALIKE = 1e-12
_BURST_NS = 10_000
"""Maximum gap between packets of one burst, ns. A full packet at 1 Gbit/s takes 12 us."""

Value = tuple[float | None, str]
"""A value of a field, None before its first value, and its unit."""


@dataclass(frozen=True)
class PacketEvent:
    """An event of a packet log."""

    time_s: float
    event: str
    flow: int
    seq: int
    size_bytes: int

    def __str__(self) -> str:
        return f"{self.event} packet {self.seq} of flow {self.flow} ({self.size_bytes} bytes) at {self.time_s:.6f} s"


@dataclass(frozen=True)
class StateField:
    """A differing field of the senders' state: its last values up to the first packet that differs."""

    field: str
    unit: str
    baseline: float | None
    candidate: float | None

    @property
    def sides(self) -> tuple[float | None, float | None]:
        """Values of baseline and candidate."""
        return self.baseline, self.candidate


@dataclass(frozen=True)
class FirstDifference:
    """The first packet events that differ; None if a log has ended before. `state` belongs to the flow under test."""

    cell: str
    run: int
    baseline: PacketEvent | None
    candidate: PacketEvent | None
    state: tuple[StateField, ...]

    @property
    def time_s(self) -> float:
        """Time at which the logs diverge, s since the start of the run."""
        return min(event.time_s for event in (self.baseline, self.candidate) if event is not None)


@dataclass(frozen=True)
class SentLog:
    """Packets of a run in order, by column, and samples of the first flow's sender: times (s), values and unit."""

    columns: Mapping[str, NDArray[Any]]
    samples: Mapping[str, tuple[NDArray[Any], NDArray[Any], str]]

    def __len__(self) -> int:
        return len(self.columns["time_ns"])

    def first(self, count: int) -> SentLog:
        """Return the log of the first `count` packets."""
        return SentLog({name: column[:count] for name, column in self.columns.items()}, self.samples)

    def event(self, place: int) -> PacketEvent:
        """Return the event at an index."""
        time_ns, flow, event, seq, size = (self.columns[name][place] for name in _COLUMNS)
        return PacketEvent(float(time_ns) / 1e9, str(event), int(flow), int(seq), int(size))

    def state(self, until_s: float) -> dict[str, Value]:
        """Return the last value of each field up to a time."""
        last_values: dict[str, Value] = {}
        for name, (time_s, values, unit) in self.samples.items():
            before = values[time_s <= until_s]
            last_values[name] = (float(before[-1]) if len(before) else None, unit)
        return last_values

    def burst(self, place: int) -> int:
        """Return the number of packets in the burst with the packet at an index."""
        time_ns = self.columns["time_ns"].astype(numpy.int64)
        starts = numpy.concatenate([[True], numpy.diff(time_ns) > _BURST_NS])
        number = numpy.cumsum(starts)
        return int((number == number[place]).sum())


def read_log(folder: Entry) -> SentLog:
    """Return all packet events of the full log in a run's folder.

    Raises:
        dumbbell.core.Error: If a log is damaged.
    """
    files = kept_files(folder)
    return _log_of(Table(read_table(PACKETS, files[PACKETS])), files.get(FLOWS))


def sends(folder: Entry) -> SentLog:
    """Return the sent packets in the full log of a run's folder; errors as for `read_log`."""
    files = kept_files(folder)
    return _log_of(Table(read_table(PACKETS, files[PACKETS])).where("event", "send"), files.get(FLOWS))


def _log_of(table: Table, samples: Source | None) -> SentLog:
    samples_ = read_sampled(samples)
    of_first = {
        name: (*flows[min(flows, key=int)], samples_.units[name]) for name, flows in samples_.series.items() if flows
    }
    return SentLog({name: table[name] for name in _COLUMNS}, of_first)


def first_difference(cell: str, run: int, baseline: Entry, candidate: Entry) -> FirstDifference | None:
    """Return the first difference of the full logs in two run folders; None if they are equal.

    Sent packets are compared first, because they cause all other differences.

    Raises:
        dumbbell.core.Error: If a log is damaged.
    """
    return parting(cell, run, sends(baseline), sends(candidate)) or parting(
        cell, run, read_log(baseline), read_log(candidate)
    )


def parting(cell: str, run: int, baseline: SentLog, candidate: SentLog) -> FirstDifference | None:
    """Return the first difference of two logs; None if they are equal."""
    logs = (baseline, candidate)
    length = min(map(len, logs))
    differs = numpy.zeros(length, dtype=bool)
    for column in _COLUMNS:
        first, second = (log.columns[column][:length] for log in logs)
        differs |= first != second
    place = int(differs.argmax()) if differs.any() else length
    events = [log.event(place) if place < len(log) else None for log in logs]
    if events == [None, None]:
        return None
    difference = FirstDifference(cell, run, events[0], events[1], ())
    states = [log.state(difference.time_s) for log in logs]
    for log, event, state in zip(logs, events, states, strict=True):
        if event is not None and event.event == "send":
            state["burst"] = (float(log.burst(place)), "packets")
    return FirstDifference(cell, run, events[0], events[1], tuple(_differing(states[0], states[1]))[:_MOST_FIELDS])


def _differing(baseline: Mapping[str, Value], candidate: Mapping[str, Value]) -> Iterable[StateField]:
    """Yield the differing fields that both senders have."""
    for name, (first, unit) in baseline.items():
        if name in candidate and not _alike(first, second := candidate[name][0]):
            yield StateField(name, unit, first, second)


def _alike(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= _ALIKE * max(abs(first), abs(second))
