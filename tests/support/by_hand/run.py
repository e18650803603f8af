"""Packet log of a run, read plainly for `metrics.py` and `network.py`."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dumbbell import _core

SEND, ENQUEUE, DEQUEUE, DROP, MARK, DELIVER, OPPORTUNITY = range(7)
ACK_SEND, ACK_DROP, ACK_MARK, ACK_DELIVER, ACK_OPPORTUNITY, LOST, ACKED, RESTORED = range(7, 15)
SECOND = 1_000_000_000
BY_OPPORTUNITIES = ("trace", "poisson", "cellular")

Values = dict[str, Any]
"""Metrics by their names in docs/reference/metrics.md."""
Amounts = list[tuple[int, int]]
"""Times, and the bits that came at each."""
Interval = tuple[int, int]


def ns(seconds: float) -> int:
    return round(seconds * SECOND)


def to_us(time: Any) -> Any:  # noqa: ANN401 (a number or a column of them)
    """Return times in whole microseconds; halves round up."""
    return (time + 500) // 1000


def mbps(amount: float, span: float) -> float:
    return float(amount * 8e3 / span)


def ratio(over: float, under: float) -> float | None:
    return over / under if under else None


def scale(value: float | None, by: float) -> float | None:
    return None if value is None else value * by


def mean(values: Sequence[float] | np.ndarray) -> float | None:
    return float(np.mean(values)) if len(values) else None


def variation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation divided by the mean."""
    return float(np.std(values, ddof=1) / np.mean(values)) if len(values) > 1 and any(values) else None


def nearest_rank(values: Sequence[float] | np.ndarray, share: float) -> float | None:
    """Return the sorted value at index round(share (n - 1)), for n values; halves round to even."""
    return float(np.sort(values)[round(share * (len(values) - 1))]) if len(values) else None


def within(amounts: Amounts, first: int, last: int) -> int:
    return sum(amount for time, amount in amounts if first <= time <= last)


@dataclass
class Events:
    """Events of one kind, in time order."""

    time: np.ndarray
    seq: np.ndarray
    size: np.ndarray
    data: np.ndarray
    delay: np.ndarray

    def within(self, first: int, last: int) -> "Events":
        is_within = (self.time >= first) & (self.time <= last)
        return Events(*(column[is_within] for column in vars(self).values()))

    def amounts(self) -> Amounts:
        return list(zip(self.time.tolist(), self.size.tolist(), strict=True))


@dataclass
class Steps:
    """A value that holds until the next one begins."""

    time: np.ndarray
    value: np.ndarray

    def integral(self, first: int, last: int) -> float:
        """Return the integral over the part of the time from `first` to `last` in which a value exists."""
        since = np.clip(self.time, first, last)
        until = np.clip(np.append(self.time[1:], last), first, last)
        return float(((until - since) * self.value).sum())

    def mean(self, first: int, last: int) -> float | None:
        """Return the mean over the part of the time from `first` to `last` in which a value exists."""
        times = [time for time in self.time[:1] if time < last]
        return self.integral(first, last) / (last - max(first, int(times[0]))) if times else None

    def before(self, time: int) -> float | None:
        """Return the value just before `time`."""
        earlier = np.searchsorted(self.time, time)
        return float(self.value[earlier - 1]) if earlier else None


class Run:
    """Packet log, samples and run spec of a run."""

    def __init__(self, folder: Path, specification: dict[str, Any]) -> None:
        self.specification = specification
        self.path = specification["path"]
        self.end = ns(specification["duration_s"])
        self.interval = ns(specification["sample_interval_s"])
        self.warmup = ns(specification["warmup_s"])
        self.log = pl.read_parquet(folder / "packets.parquet").with_columns(pl.all().cast(pl.Int64))
        self.samples = pl.read_parquet(folder / "flows.parquet")
        self.flows = [Flow(self, number) for number in range(1, len(specification["flows"]) + 1)]

    @property
    def competing(self) -> Interval | None:
        """Return the time in which all flows are active: from the warm-up until the first transfer is complete."""
        first = max(max(flow.active[0] for flow in self.flows), self.warmup)
        last = min(flow.active[1] for flow in self.flows)
        return (first, last) if len(self.flows) > 1 and first < last else None

    def events(self, kind: int, flow: int | None = None) -> Events:
        rows = self.log.filter(pl.col("event") == kind)
        if flow is not None:
            rows = rows.filter(pl.col("flow") == flow)
        columns = ("time_ns", "seq", "size_bytes", "data_bytes", "one_way_delay_ns")
        return Events(*(rows[name].to_numpy() for name in columns))

    def rows(self, flow: int, field: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the times and values of a field of the sender's state, at each of its changes."""
        rows = self.samples.filter((pl.col("flow") == flow) & (pl.col("field") == field))
        return rows["time_ns"].cast(pl.Int64).to_numpy(), rows["value"].to_numpy()

    def steps(self, flow: int, field: str) -> Steps:
        return Steps(*self.rows(flow, field))

    @cached_property
    def intervals(self) -> list[Interval]:
        return [(end - self.interval, end) for end in range(self.interval, self.end + 1, self.interval)]

    @cached_property
    def last_change(self) -> int | None:
        """Return the time of the last scheduled change of the path."""
        elements = self.path["data"] + self.path["ack"]
        return max((ns(change["at_s"]) for element in elements for change in element.get("schedule", [])), default=None)

    def offered_bits(self, link: dict[str, Any], first: int, last: int) -> float:
        """Return the bits that a link could carry."""
        if link["kind"] in BY_OPPORTUNITIES:
            opportunities = self.events(OPPORTUNITY)
            return float(opportunities.size[(opportunities.time > first) & (opportunities.time <= last)].sum() * 8)
        return planned_steps(link, "rate_mbps").integral(first, last) / 1e3


def planned_steps(element: dict[str, Any], key: str) -> Steps:
    """Return the value of an element's key over time."""
    changes = [(ns(change["at_s"]), change[key]) for change in element.get("schedule", []) if key in change]
    time, value = zip((0, element[key]), *changes, strict=True)
    return Steps(np.array(time), np.array(value))


class Stream:
    """Bytes of one flow over the built-in transport, followed through the packet log.

    The log has packets only. Lost packets are sent again, whole and before any new ones, unless the loss is taken back.
    They follow in the order in which their losses were found; with TCP, in that of the stream. A probe without new data
    repeats the oldest packet; with TCP, the latest.
    """

    def __init__(self, log: pl.DataFrame, total: int | None, *, reliable: bool, tcp: bool) -> None:
        self.resent = 0
        """Packets whose payload had been sent before."""
        self.first_sent: Amounts = []
        self.fresh: Amounts = []
        """Bytes that arrived for the first time."""
        self.read: Amounts = []
        """Bytes that the application read: in order, or as they come if nothing is sent again."""
        self.waited: list[tuple[int, int, int]] = []
        """Times at which bytes were read, their number, and the time since they were first sent."""
        self.acknowledged: Amounts = [(0, 0)]
        """Times, and the bytes that the sender then knew to have arrived without a gap."""
        silent: set[int] = set()
        """Times at which the sender gave up all packets in flight."""
        length: dict[int, int] = {}
        sent_at: dict[int, int] = {}
        offset_of: dict[int, int] = {}
        in_flight: dict[int, None] = {}
        promised_bytes: dict[int, int] = {}
        lost_packets: deque[int] = deque()
        acked_packets: set[int] = set()
        arrived_offsets: set[int] = set()
        sent_bytes = read = complete = 0
        for time, kind, seq, payload in log.select("time_ns", "event", "seq", "data_bytes").iter_rows():
            if kind == SEND and payload:
                while lost_packets and (lost_packets[0] in acked_packets or offset_of[lost_packets[0]] < complete):
                    lost_packets.popleft()
                again = None
                if lost_packets and reliable:
                    again = lost_packets.popleft()
                elif total is not None and sent_bytes >= total:
                    again = next(reversed(in_flight)) if tcp else next(iter(in_flight))
                if again is None:
                    offset_of[seq], length[sent_bytes], sent_at[sent_bytes] = sent_bytes, payload, time
                    sent_bytes += payload
                    self.first_sent.append((time, payload))
                else:
                    offset_of[seq] = offset_of[again]
                    assert length[offset_of[seq]] == payload
                    self.resent += 1
                in_flight[seq] = None
            elif kind == DELIVER and seq in offset_of:
                offset = offset_of[seq]
                fresh = 0 if offset in arrived_offsets else length[offset]
                assert fresh == payload, f"packet {seq} brings {fresh} new bytes, the log says {payload}"
                arrived_offsets.add(offset)
                self.fresh.append((time, fresh))
                if fresh and not reliable:
                    self.waited.append((time, fresh, time - sent_at[offset]))
                while reliable and read in arrived_offsets:
                    self.waited.append((time, length[read], time - sent_at[read]))
                    read += length[read]
            elif kind == ACK_SEND:
                promised_bytes[seq] = read
            elif kind == ACK_DELIVER and promised_bytes[seq] > complete:
                complete = promised_bytes[seq]
                self.acknowledged.append((time, complete))
            elif kind == ACKED:
                acked_packets.add(seq)
                in_flight.pop(seq, None)
            elif kind == LOST:
                in_flight.pop(seq, None)
                if seq in offset_of:
                    lost_packets.append(seq)
                    if tcp:
                        lost_packets = deque(sorted(lost_packets, key=lambda packet: (offset_of[packet], packet)))
                if not in_flight:
                    silent.add(time)
            elif kind == RESTORED:
                lost_packets.remove(seq)
                in_flight = dict.fromkeys(sorted([*in_flight, seq]))
        acks = log.filter(pl.col("event") == ACK_DELIVER)["time_ns"]
        self.timeouts = len(silent - set(acks))
        """Number of these times at which no ACK arrived: timeouts."""
        self.read = [(time, amount) for time, amount, _ in self.waited]


class Flow:
    """One flow of a run, with the data that its metrics share."""

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number
        self.spec = run.specification["flows"][number - 1]
        self.transport = json.loads(_core.transport(json.dumps(self.spec["transport"])))
        self.total = self.spec["application"].get("bytes")
        self.log = run.log.filter(pl.col("flow") == number)
        self.sent, self.delivered = run.events(SEND, number), run.events(DELIVER, number)
        self.dropped = run.events(DROP, number)
        self.start = ns(self.spec["start_s"])
        self.stop = ns(self.spec["stop_s"]) if self.spec["stop_s"] is not None else run.end
        self.counted = max(self.start, run.warmup), self.stop
        """Counted time of the corrected convention."""
        stream = self.stream = Stream(
            self.log,
            self.total,
            reliable=self.transport["reliable"],
            tcp=self.transport["timer"] == "rto",
        )
        completion_times = [time for time, amount in stream.acknowledged if self.total and amount >= self.total]
        self.completed = completion_times[0] if completion_times else None
        """Time at which the last byte of a transfer was acknowledged, which ends the time of ccperf's means."""
        self.over = min(self.stop, completion_times[0] if completion_times else self.stop)
        read_bytes = np.cumsum([amount for _, amount in stream.read])
        full_times = [
            time for (time, _), sum_ in zip(stream.read, read_bytes, strict=True) if self.total and sum_ >= self.total
        ]
        self.active = self.start, min(self.stop, full_times[0] if full_times else self.stop)
        """Time from the flow's start until it stops or its last byte arrives."""

    @property
    def directions(self) -> tuple[str, str]:
        return ("ack", "data") if self.spec.get("reverse") else ("data", "ack")

    def elements_passed(self, direction: str) -> list[dict[str, Any]]:
        """Return the elements that the flow's packets pass."""
        elements: list[dict[str, Any]] = self.run.path[direction]
        if direction != self.directions[0]:
            return elements
        names = [element.get("name") for element in elements]
        enter, leave = self.spec.get("enter"), self.spec.get("leave")
        return elements[names.index(enter) if enter else 0 : names.index(leave) + 1 if leave else None]

    @property
    def is_confined(self) -> bool:
        return "enter" in self.spec or "leave" in self.spec

    @property
    def links(self) -> list[dict[str, Any]]:
        elements = self.run.path[self.directions[0]]
        return [element for element in elements if "rate_mbps" in element or element["kind"] in BY_OPPORTUNITIES]

    def capacity(self, first: int, last: int) -> float:
        """Return the capacity of the narrowest link of the flow's direction."""
        return min(self.run.offered_bits(link, first, last) for link in self.links) / (last - first) * 1e3

    def base_rtt_ms(self, first: int, last: int) -> float:
        """Return the sum of the fixed delays, ms."""
        delays = [
            planned_steps(element, "delay_ms")
            for direction in self.directions
            for element in self.elements_passed(direction)
            if element["kind"] == "delay"
        ]
        mean_delay_ms, planned_delay_ms = (
            sum(delay.integral(*span) / (span[1] - span[0]) for delay in delays) for span in [(first, last), (0, 1)]
        )
        return mean_delay_ms + max((self.spec.get("rtt_ms") or 0.0) - planned_delay_ms, 0.0)

    @cached_property
    def intervals(self) -> list[Interval]:
        """Return the sample intervals in which the flow is active from beginning to end."""
        return [
            interval
            for interval in self.run.intervals
            if self.active[0] <= interval[0] and interval[1] <= self.active[1]
        ]

    def rate(self, amounts: Amounts, interval: Interval) -> float:
        """Return the rate of the bytes that came in an interval; its end is excluded."""
        first, last = interval
        return mbps(sum(amount for time, amount in amounts if first <= time < last), last - first)

    def throughput(self, interval: Interval) -> float:
        return self.rate(self.stream.read, interval)
