"""The effects of a path on a transfer that fills it: its rate, the queue at the narrowest link, its losses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate, median, share

NOISE_MS = 0.3
"""Variation of delays that end hosts cause, ms."""
LEAST_PAIRS = 5
BLOCKS = 12
_TOP, _BOTTOM = 0.8, 0.5
"""Shares of the longest wait: the queue is full above the first, and short below the second."""
EXACT = 0.002
"""Relative uncertainty of a rate: clocks differ, and timestamp exchanges share the link."""
_LEAST_DROPS = 3
_STEEP = 5.0
"""Smallest ratio of the loss rates in a full and in a short queue."""


def busy_rate(log: FlowLog, method: str, beside_mbps: float = 0.0) -> Estimate:
    """Return the arrival rate of packets that waited, since the narrowest link was never idle before them.

    Only neighbours count, since a packet between others may have been lost behind the link. `beside_mbps` is the rate
    of timestamp exchanges, which share the link.
    """
    queueing = log.queueing_ms()
    longest = _longest(queueing)
    waits = (queueing > max(0.3 * longest, 2 * NOISE_MS)) & ~log.overtaken()
    apart_s = np.diff(log.arrived_s)
    pairs = waits[1:] & waits[:-1] & ~np.isnan(apart_s) & (apart_s >= 0.0)
    rates = []
    for block in np.array_split(np.flatnonzero(pairs), BLOCKS):
        seconds = float(apart_s[block].sum())
        if len(block) >= LEAST_PAIRS and seconds > 0.0:
            rates.append(float(log.size_bytes[block + 1].sum()) * 8e-6 / seconds + beside_mbps)
    return median(rates, "Mbit/s", method).widened(EXACT)


@dataclass(frozen=True)
class Queue:
    """The queue at the narrowest link, as seen by a transfer."""

    full: bool
    """True if the queue was full; otherwise its size is at least the longest wait."""
    depth_ms: Estimate
    """Queueing delay of a packet in a full queue, ms."""

    def bytes(self, mbps: float, packet_bytes: int) -> int | None:
        """Return the size of the queue, bytes.

        The last packet before a lost one fitted, after the bytes for which it waited.
        """
        if self.depth_ms.value is None:
            return None
        return max(round(self.depth_ms.value * mbps * 125.0) + packet_bytes, 2 * packet_bytes)


def queue(log: FlowLog) -> Queue:
    """Return the queue, estimated from the queueing delays of packets just before losses."""
    before, is_lost = log.queueing_before(), log.lost
    longest = _longest(log.queueing_ms())
    has_delay = ~np.isnan(before)
    high, low = has_delay & (before >= _TOP * longest), has_delay & (before < _BOTTOM * longest)
    drops = int((is_lost & high).sum())
    share_high = drops / max(int(high.sum()), 1)
    share_low = int((is_lost & low).sum()) / max(int(low.sum()), 1)
    full = drops >= _LEAST_DROPS and longest > 2 * NOISE_MS and share_high > _STEEP * share_low + 1e-3
    if not full:
        method = "longest wait that was seen: it was not full"
        return Queue(False, Estimate(None, longest, None, "ms", method))
    waits = [float(wait) for wait in before[is_lost & high]]
    return Queue(True, median(waits, "ms", f"wait just before {len(waits)} losses"))


def random_losses(logs: Sequence[FlowLog], depth_ms: float) -> tuple[int, int]:
    """Return the number of packets lost while the queue was short, and the number of packets."""
    hits = cases = 0
    for log in logs:
        low = log.queueing_before() < _BOTTOM * depth_ms
        hits, cases = hits + int((log.lost & low).sum()), cases + int(low.sum())
    return hits, cases


def loss_under_load(log: FlowLog) -> Estimate:
    """Return the share of a transfer's packets that were lost."""
    return share(int(log.lost.sum()), len(log.lost), "packets of a transfer")


def _longest(queueing_ms: "np.typing.NDArray[np.float64]") -> float:
    """Return the longest wait without the last percent, which machines may have caused."""
    known_ms = queueing_ms[~np.isnan(queueing_ms)]
    return float(np.quantile(known_ms, 0.99)) if len(known_ms) else 0.0
