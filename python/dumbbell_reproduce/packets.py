"""What the packet log of a run says, measured or simulated: the window, gaps between ACKs, how late the host was."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell.base.entry import Entry
from dumbbell.results.series.run_files import PACKETS, read_table
from dumbbell_reproduce.mahimahi_link import departures

Numbers = NDArray[Any]

_SEND, _DELIVER, _OPPORTUNITY, _ACK_SEND, _ACK_DELIVER, _ACK_OPPORTUNITY = 0, 5, 6, 7, 10, 11
"""Codes of events in packet logs."""
_GRID_MS = 20.0
"""Distance of the times at which the window is looked at."""
_MOST_REPLAYED = 200_000
_AT_ONCE_MS = 1.0
"""Time after an ACK up to which a packet counts as released by that ACK."""
_FIRST, _LOOKED_AT = 10, 400
"""Packets of the initial window, and packets that are looked at: later ones leave with dense ACKs, paced or not."""
_SAME_MS = 0.002
"""Times of sending that follow from a delay are rounded."""


@dataclass(frozen=True)
class Way:
    """The packets of one direction that arrived, by the time they were sent; ms and bytes."""

    sent_ms: Numbers
    arrived_ms: Numbers
    sizes: Numbers

    @property
    def delays_ms(self) -> Numbers:
        """One-way delays."""
        found: Numbers = self.arrived_ms - self.sent_ms
        return found


@dataclass(frozen=True)
class Lateness:
    """How much later than the link's model packets arrived: mean, and standard deviation without the last hundredth."""

    mean_ms: float
    deviation_ms: float
    p95_ms: float


class RunPackets:
    """The packet log of one run. Times are ms since the first data packet."""

    def __init__(self, folder: Entry) -> None:
        table = read_table(PACKETS, folder / "packets.parquet")
        event = np.asarray(table.column("event"))
        flow = np.asarray(table.column("flow"))
        time = np.asarray(table.column("time_ns")).astype(np.float64) / 1e6
        size = np.asarray(table.column("size_bytes")).astype(np.int64)
        delay = np.asarray(table.column("one_way_delay_ns")).astype(np.float64) / 1e6
        sent = event == _SEND
        self.zero_ms = float(time[sent].min()) if sent.any() else 0.0
        time = time - self.zero_ms
        self._event, self._flow, self._time, self._size, self._delay = event, flow, time, size, delay

    @property
    def sent(self) -> int:
        """Data packets that were sent."""
        return int(np.count_nonzero(self._event == _SEND))

    @cached_property
    def end_ms(self) -> float:
        """When the last data packet was sent."""
        sent = self._time[self._event == _SEND]
        return float(sent.max()) if len(sent) else 0.0

    def span_ms(self, flow: int) -> tuple[float, float]:
        """When a flow sent its first and its last data packet; where sending is not told, when they arrived."""
        of = self._flow == flow
        times = self._time[of & (self._event == _SEND)]
        if not len(times):
            times = self._time[of & (self._event == _DELIVER)]
        return (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)

    def opportunities(self, ack: bool = False) -> Numbers:
        """Delivery opportunities of a direction; none where the log has none."""
        found: Numbers = np.sort(self._time[self._event == (_ACK_OPPORTUNITY if ack else _OPPORTUNITY)])
        return found

    def way(self, ack: bool = False, flow: int | None = None) -> Way:
        """The packets of a direction that arrived, of all flows or of one."""
        chosen = self._event == (_ACK_DELIVER if ack else _DELIVER)
        if flow is not None:
            chosen &= self._flow == flow
        arrived, delays, sizes = self._time[chosen], self._delay[chosen], self._size[chosen]
        order = np.argsort(arrived - delays, kind="stable")
        return Way((arrived - delays)[order], arrived[order], sizes[order])

    def lost_beside(self) -> Numbers:
        """For each data packet that was lost before the end, the packet of `way()` that was sent next before it."""
        way = self.way()
        if not len(way.sizes):
            return np.zeros(0, np.int64)
        sent = np.sort(self._time[self._event == _SEND])
        until = self.end_ms - float(np.percentile(way.delays_ms, 99.0))
        # arrivals by the time of sending are a part of what was sent: what is missing between them was lost
        known = np.searchsorted(way.sent_ms, sent + _SAME_MS, "right")
        before = np.maximum.accumulate(np.arange(1, len(sent) + 1) - known)  # several are sent at once
        grown = np.flatnonzero((np.diff(np.maximum(before, 0), prepend=0) > 0) & (sent < until))
        found: Numbers = np.clip(known[grown] - 1, 0, len(way.sizes) - 1)
        return found

    @cached_property
    def apart_from_acks(self) -> float | None:
        """Share of the first packets that left more than `_AT_ONCE_MS` after the latest ACK; None of too few packets.

        A window sends when an ACK arrives. Pacing keeps packets back.
        """
        sent = np.sort(self._time[self._event == _SEND])[_FIRST:_LOOKED_AT]
        acks = np.sort(self._time[self._event == _ACK_DELIVER])
        latest = np.searchsorted(acks, sent + _SAME_MS, "right") - 1
        sent, latest = sent[latest >= 0], latest[latest >= 0]
        if len(sent) < _LOOKED_AT // 4:
            return None
        return float(np.mean(sent - acks[latest] > _AT_ONCE_MS))

    def window(self, flow: int | None = None) -> Numbers:
        """Bytes under way at times `_GRID_MS` apart, of packets that arrived: what is lost does not count.

        It ends one longest delay before the end: what is sent later does not arrive.
        """
        way = self.way(flow=flow)
        if len(way.sizes) < 2:
            return np.zeros(0)
        until = self.end_ms - float(np.percentile(way.delays_ms, 95.0))
        grid = np.arange(float(way.sent_ms[0]), max(until, float(way.sent_ms[0]) + _GRID_MS), _GRID_MS)
        arrivals = np.argsort(way.arrived_ms, kind="stable")
        sent = np.concatenate([[0.0], np.cumsum(way.sizes)])
        arrived = np.concatenate([[0.0], np.cumsum(way.sizes[arrivals])])
        found: Numbers = (
            sent[np.searchsorted(way.sent_ms, grid, "right")]
            - arrived[np.searchsorted(way.arrived_ms[arrivals], grid, "right")]
        )
        return found

    def lateness(self, delay_ms: float, ack: bool = False) -> Lateness | None:
        """How late the host was, beside mm-link with `delay_ms` outside of it; None without logged opportunities."""
        opportunities, way = self.opportunities(ack), self.way(ack)
        if not len(opportunities) or len(way.sizes) < 100:
            return None
        before = delay_ms if ack else 0.0  # mm-delay is outside of the link: ACKs pass it first
        arrivals = (way.sent_ms + before)[:_MOST_REPLAYED] + self.zero_ms
        sizes = way.sizes[: len(arrivals)]
        left = departures(arrivals.tolist(), sizes.tolist(), (opportunities + self.zero_ms).tolist())
        late = way.arrived_ms[: len(left)] - (np.asarray(left) - self.zero_ms) - (0.0 if ack else delay_ms)
        if len(late) < 100:
            return None
        core = np.sort(late)[: max(len(late) * 99 // 100, 1)]
        return Lateness(float(core.mean()), float(core.std()), float(np.percentile(late, 95.0)))
