"""Metrics from the packet log of a measured or simulated run: window, gaps between ACKs, lateness of the host."""

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
"""Time between two samples of the window, ms."""
_MOST_REPLAYED = 200_000
_AT_ONCE_MS = 1.0
"""Time after an ACK up to which a packet counts as released by that ACK."""
_FIRST, _LOOKED_AT = 10, 400
"""Number of packets in the initial window, and number of examined packets. Later packets leave with dense ACKs, paced
or not."""
_SAME_MS = 0.002
"""Rounding error of send times that are computed from a delay, ms."""


@dataclass(frozen=True)
class Way:
    """The packets of one direction that arrived, in the order of sending; ms and bytes."""

    sent_ms: Numbers
    arrived_ms: Numbers
    sizes: Numbers

    @property
    def delays_ms(self) -> Numbers:
        """One-way delays, ms."""
        delays: Numbers = self.arrived_ms - self.sent_ms
        return delays


@dataclass(frozen=True)
class Lateness:
    """Delay of arrivals beyond the link's model, ms. Mean and standard deviation leave out the largest hundredth."""

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
        is_sent = event == _SEND
        self.zero_ms = float(time[is_sent].min()) if is_sent.any() else 0.0
        time = time - self.zero_ms
        self._event, self._flow, self._time, self._size, self._delay = event, flow, time, size, delay

    @property
    def sent(self) -> int:
        """Number of data packets that were sent."""
        return int(np.count_nonzero(self._event == _SEND))

    @cached_property
    def end_ms(self) -> float:
        """Time when the last data packet was sent, ms."""
        sent_ms = self._time[self._event == _SEND]
        return float(sent_ms.max()) if len(sent_ms) else 0.0

    def span_ms(self, flow: int) -> tuple[float, float]:
        """Return the send times of a flow's first and last data packet, ms. Arrival times if no sending is logged."""
        in_flow = self._flow == flow
        times = self._time[in_flow & (self._event == _SEND)]
        if not len(times):
            times = self._time[in_flow & (self._event == _DELIVER)]
        return (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)

    def opportunities(self, ack: bool = False) -> Numbers:
        """Return the delivery opportunities of a direction, ms; empty if none are logged."""
        opportunities_ms: Numbers = np.sort(self._time[self._event == (_ACK_OPPORTUNITY if ack else _OPPORTUNITY)])
        return opportunities_ms

    def way(self, ack: bool = False, flow: int | None = None) -> Way:
        """Return the delivered packets of a direction, for all flows or one flow."""
        is_chosen = self._event == (_ACK_DELIVER if ack else _DELIVER)
        if flow is not None:
            is_chosen &= self._flow == flow
        arrived_ms, delays, sizes = self._time[is_chosen], self._delay[is_chosen], self._size[is_chosen]
        order = np.argsort(arrived_ms - delays, kind="stable")
        return Way((arrived_ms - delays)[order], arrived_ms[order], sizes[order])

    def lost_beside(self) -> Numbers:
        """Return indices into `way()`: the packets sent just before each data packet that was lost before the end."""
        way = self.way()
        if not len(way.sizes):
            return np.zeros(0, np.int64)
        sent_ms = np.sort(self._time[self._event == _SEND])
        until = self.end_ms - float(np.percentile(way.delays_ms, 99.0))
        # `way()` has the sent packets that arrived, so each packet missing between two of them was lost
        arrived_counts = np.searchsorted(way.sent_ms, sent_ms + _SAME_MS, "right")
        before = np.maximum.accumulate(
            np.arange(1, len(sent_ms) + 1) - arrived_counts
        )  # several packets are sent at the same time
        lost_indices = np.flatnonzero((np.diff(np.maximum(before, 0), prepend=0) > 0) & (sent_ms < until))
        neighbours: Numbers = np.clip(arrived_counts[lost_indices] - 1, 0, len(way.sizes) - 1)
        return neighbours

    @cached_property
    def apart_from_acks(self) -> float | None:
        """Share of the first packets that left more than `_AT_ONCE_MS` after the latest ACK; None with too few packets.

        A window sends when an ACK arrives. Pacing keeps packets back.
        """
        sent_ms = np.sort(self._time[self._event == _SEND])[_FIRST:_LOOKED_AT]
        acks = np.sort(self._time[self._event == _ACK_DELIVER])
        latest = np.searchsorted(acks, sent_ms + _SAME_MS, "right") - 1
        sent_ms, latest = sent_ms[latest >= 0], latest[latest >= 0]
        if len(sent_ms) < _LOOKED_AT // 4:
            return None
        return float(np.mean(sent_ms - acks[latest] > _AT_ONCE_MS))

    def window(self, flow: int | None = None) -> Numbers:
        """Return the bytes in flight at times `_GRID_MS` apart. Lost packets do not count.

        The window ends one long delay before the run does, since packets sent later do not arrive in the run.
        """
        way = self.way(flow=flow)
        if len(way.sizes) < 2:
            return np.zeros(0)
        until = self.end_ms - float(np.percentile(way.delays_ms, 95.0))
        grid = np.arange(float(way.sent_ms[0]), max(until, float(way.sent_ms[0]) + _GRID_MS), _GRID_MS)
        arrivals = np.argsort(way.arrived_ms, kind="stable")
        sent_bytes = np.concatenate([[0.0], np.cumsum(way.sizes)])
        arrived_bytes = np.concatenate([[0.0], np.cumsum(way.sizes[arrivals])])
        in_flight: Numbers = (
            sent_bytes[np.searchsorted(way.sent_ms, grid, "right")]
            - arrived_bytes[np.searchsorted(way.arrived_ms[arrivals], grid, "right")]
        )
        return in_flight

    def lateness(self, delay_ms: float, ack: bool = False) -> Lateness | None:
        """Return the lateness of a host with mm-link inside mm-delay `delay_ms`; None without logged opportunities."""
        opportunities, way = self.opportunities(ack), self.way(ack)
        if not len(opportunities) or len(way.sizes) < 100:
            return None
        before = delay_ms if ack else 0.0  # mm-delay is outside of the link: ACKs pass it first
        arrivals = (way.sent_ms + before)[:_MOST_REPLAYED] + self.zero_ms
        sizes = way.sizes[: len(arrivals)]
        left_ms = departures(arrivals.tolist(), sizes.tolist(), (opportunities + self.zero_ms).tolist())
        late = way.arrived_ms[: len(left_ms)] - (np.asarray(left_ms) - self.zero_ms) - (0.0 if ack else delay_ms)
        if len(late) < 100:
            return None
        core = np.sort(late)[: max(len(late) * 99 // 100, 1)]
        return Lateness(float(core.mean()), float(core.std()), float(np.percentile(late, 95.0)))
