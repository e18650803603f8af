"""The rate of the narrowest link, from packets that were sent at once: behind it they are as far apart as it needs.

Dovrolis, Ramanathan and Moore, "What do packet dispersion techniques measure?", INFOCOM 2001; Jain and Dovrolis,
SIGCOMM 2002. Other traffic that comes in between makes the rate smaller: what is found is between what the path has
left and what the link can carry. Packets that were lost leave holes; only neighbours count, so that it does not matter
where.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dumbbell_remote.pathfinding.intervals import Estimate, median

OWN_SHARE = 0.5
"""A train that arrives at more than this share of the rate at which it left has met no link that it could tell of."""
LEAST_PAIRS = 1
NOISE_NS = 100_000
"""By how much machines shorten or lengthen a train: the first or the last packet is taken in later than others."""
MOST_NOISE = 0.1
"""A train in which that is a larger part tells a bound only."""


@dataclass(frozen=True)
class Train:
    """One train: arrivals (number, ns, bytes), and the rate at which it left, Mbit/s."""

    arrivals: tuple[tuple[int, int, int], ...]
    left_mbps: float

    @property
    def lasted_ns(self) -> int:
        """From the first arrival to the last."""
        times = [at_ns for _, at_ns, _ in self.arrivals]
        return max(times) - min(times)

    def mbps(self) -> float | None:
        """The rate behind the narrowest link; None of too few packets."""
        ordered = sorted(self.arrivals)
        bits, ns, pairs = 0, 0, 0
        for (number, at_ns, _), (after, then_ns, size) in pairwise(ordered):
            if after == number + 1 and then_ns >= at_ns:
                bits, ns, pairs = bits + 8 * size, ns + then_ns - at_ns, pairs + 1
        if pairs < LEAST_PAIRS or ns == 0:
            return None
        return bits * 1e3 / ns


def rate(trains: Sequence[Train], jitter_ms: float = 0.0) -> Estimate:
    """The rate that trains tell, or what it is at least, where packets are later than the fastest by so much."""
    found = [(train, mbps) for train in trains if (mbps := train.mbps()) is not None]
    how = f"dispersion of {len(found)} packet trains"
    rates = [mbps for _, mbps in found]
    if not rates:
        return Estimate(None, None, None, "Mbit/s", how)
    lengths = sorted(train.lasted_ns for train, _ in found)
    noise = min((NOISE_NS + jitter_ms * 1e6) / max(lengths[len(lengths) // 2], 1), 0.5)
    estimate = median(rates, "Mbit/s", how).widened(noise)
    fast = sum(mbps > OWN_SHARE * train.left_mbps for train, mbps in found)
    if 2 * fast > len(found) or NOISE_NS / max(lengths[len(lengths) // 2], 1) > MOST_NOISE:
        return Estimate(None, estimate.low, None, "Mbit/s", f"{how}, as fast as machines take them")
    return estimate
