"""What a path does to a transfer that fills it: its rate, the queue before the narrowest link, what it loses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate, median, share

NOISE_MS = 0.3
"""What ends and their machines add to delays."""
LEAST_PAIRS = 5
BLOCKS = 12
_TOP, _BOTTOM = 0.8, 0.5
"""From this share of the longest queueing on the queue counts as full, up to this one as far from it."""
EXACT = 0.002
"""A rate is not known better: clocks and the questions for the time, which share the link."""
_LEAST_DROPS = 3
_STEEP = 5.0
"""A full queue loses at least so many times as many packets as one that is far from it."""


def busy_rate(log: FlowLog, how: str, beside_mbps: float = 0.0) -> Estimate:
    """The rate at which packets came that had to wait: then the narrowest link was never idle.

    Only neighbours count: between others something may have been lost behind the link. `beside_mbps` is what shares the
    link and is known: questions for the time.
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
    return median(rates, "Mbit/s", how).widened(EXACT)


@dataclass(frozen=True)
class Queue:
    """The queue before the narrowest link, as a transfer saw it."""

    full: bool
    """Whether it was full; if not, it is at least as long as seen."""
    depth_ms: Estimate
    """Time that a packet waits in it when it is full."""

    def bytes(self, mbps: float, packet_bytes: int) -> int | None:
        """Its length. The packet before one that found no room had room itself, behind what it waited for."""
        if self.depth_ms.value is None:
            return None
        return max(round(self.depth_ms.value * mbps * 125.0) + packet_bytes, 2 * packet_bytes)


def queue(log: FlowLog) -> Queue:
    """The queue, from how long packets waited just before others were lost."""
    before, lost = log.before(), log.lost
    longest = _longest(log.queueing_ms())
    known = ~np.isnan(before)
    high, low = known & (before >= _TOP * longest), known & (before < _BOTTOM * longest)
    drops = int((lost & high).sum())
    share_high = drops / max(int(high.sum()), 1)
    share_low = int((lost & low).sum()) / max(int(low.sum()), 1)
    full = drops >= _LEAST_DROPS and longest > 2 * NOISE_MS and share_high > _STEEP * share_low + 1e-3
    if not full:
        how = "longest wait that was seen: it was not full"
        return Queue(False, Estimate(None, longest, None, "ms", how))
    waits = [float(each) for each in before[lost & high]]
    return Queue(True, median(waits, "ms", f"wait just before {len(waits)} losses"))


def random_losses(logs: Sequence[FlowLog], depth_ms: float) -> tuple[int, int]:
    """How many packets were lost while the queue was far from full, of how many."""
    hits = cases = 0
    for log in logs:
        low = log.before() < _BOTTOM * depth_ms
        hits, cases = hits + int((log.lost & low).sum()), cases + int(low.sum())
    return hits, cases


def loss_under_load(log: FlowLog) -> Estimate:
    """The share of all its packets that a transfer lost."""
    return share(int(log.lost.sum()), len(log.lost), "packets of a transfer")


def _longest(queueing_ms: "np.typing.NDArray[np.float64]") -> float:
    """The longest wait but for the last percent, which machines may have caused."""
    known = queueing_ms[~np.isnan(queueing_ms)]
    return float(np.quantile(known, 0.99)) if len(known) else 0.0
