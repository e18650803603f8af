"""Where the packets of two runs with the same draws first differ, and what the senders knew there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.results.series.run_files import FLOWS, PACKETS, Source, kept_files, read_table
from dumbbell.results.series.samples import read_sampled
from dumbbell.results.series.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_COLUMNS = ("time_ns", "flow", "event", "seq", "size_bytes")
_MOST_FIELDS = 12
_ALIKE = 1e-12


@dataclass(frozen=True)
class PacketEvent:
    """One event of a packet log."""

    time_s: float
    event: str
    flow: int
    seq: int
    size_bytes: int

    def __str__(self) -> str:
        return f"{self.event} packet {self.seq} of flow {self.flow} ({self.size_bytes} bytes) at {self.time_s:.6f} s"


@dataclass(frozen=True)
class StateField:
    """A field of a sender's state that differs: its last values up to the first packet that differs."""

    field: str
    unit: str
    baseline: float | None
    candidate: float | None


@dataclass(frozen=True)
class FirstDifference:
    """The first packet events that differ; None if a log has ended before. `state` is of the flow under test."""

    cell: str
    run: int
    baseline: PacketEvent | None
    candidate: PacketEvent | None
    state: tuple[StateField, ...]

    @property
    def time_s(self) -> float:
        """Return when the logs part, s since the start of the run."""
        return min(event.time_s for event in (self.baseline, self.candidate) if event is not None)


def first_difference(cell: str, run: int, baseline: Entry, candidate: Entry) -> FirstDifference | None:
    """Return where the full logs in two folders of runs first differ; None if they are the same.

    Packets that senders send are compared first: what else differs follows from them.

    Raises:
        dumbbell._core.Error: a log is damaged.
    """
    files = kept_files(baseline), kept_files(candidate)
    whole = [Table(read_table(PACKETS, kept[PACKETS])) for kept in files]
    return _parting(cell, run, [log.where("event", "send") for log in whole], files) or _parting(
        cell, run, whole, files
    )


def _parting(
    cell: str, run: int, logs: Sequence[Table], files: Sequence[Mapping[str, Source]]
) -> FirstDifference | None:
    """Return where two logs first differ; None if they are the same."""
    import numpy

    length = min(map(len, logs))
    differs = numpy.zeros(length, dtype=bool)
    for column in _COLUMNS:
        first, second = (log[column][:length] for log in logs)
        differs |= first != second
    place = int(differs.argmax()) if differs.any() else length
    events = [_event(log, place) if place < len(log) else None for log in logs]
    if events == [None, None]:
        return None
    found = FirstDifference(cell, run, events[0], events[1], ())
    states = [_state(kept.get(FLOWS), found.time_s) for kept in files]
    units = states[0] | states[1]
    fields = [
        StateField(name, unit, *(state.get(name, (None, ""))[0] for state in states))
        for name, (_, unit) in units.items()
    ]
    differing = tuple(each for each in fields if not _alike(each.baseline, each.candidate))
    return FirstDifference(cell, run, events[0], events[1], differing[:_MOST_FIELDS])


def _event(log: Table, place: int) -> PacketEvent:
    time_ns, flow, event, seq, size = (log[column][place] for column in _COLUMNS)
    return PacketEvent(float(time_ns) / 1e9, str(event), int(flow), int(seq), int(size))


def _state(samples: Source | None, until_s: float) -> dict[str, tuple[float | None, str]]:
    """Return the last value up to a time of each field of the first flow, with its unit."""
    sampled = read_sampled(samples)
    found: dict[str, tuple[float | None, str]] = {}
    for name, flows in sampled.series.items():
        if not flows:
            continue
        time_s, values = flows[min(flows, key=int)]
        before = values[time_s <= until_s]
        found[name] = (float(before[-1]) if len(before) else None, sampled.units[name])
    return found


def _alike(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= _ALIKE * max(abs(first), abs(second))
