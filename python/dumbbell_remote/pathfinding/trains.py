"""The rate of the narrowest link, from the distances of packets sent back to back.

Dovrolis, Ramanathan and Moore, "What do packet dispersion techniques measure?", INFOCOM 2001; Jain and Dovrolis,
SIGCOMM 2002. Competing packets in between make the rate smaller: the estimate lies between the available rate
of the path and the rate of the link. Only neighbours count, so lost packets do not matter,
whatever their place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dumbbell_remote.pathfinding.intervals import Estimate, median

OWN_SHARE = 0.5
"""Share of its sending rate above which the arrival rate of a train shows no link."""
LEAST_PAIRS = 1
NOISE_NS = 100_000
"""Change of a train's duration that machines cause, ns: they receive the first or the last packet late."""
MOST_NOISE = 0.1
"""Largest share of the noise in a train's duration. A train with more gives only a bound."""


@dataclass(frozen=True)
class Train:
    """One train: arrivals (number, ns, bytes), and its sending rate, Mbit/s."""

    arrivals: tuple[tuple[int, int, int], ...]
    left_mbps: float

    @property
    def lasted_ns(self) -> int:
        """Return the time from the first arrival to the last, ns."""
        times = [at_ns for _, at_ns, _ in self.arrivals]
        return max(times) - min(times)

    def mbps(self) -> float | None:
        """Return the rate behind the narrowest link, Mbit/s; None with too few packets."""
        arrivals = sorted(self.arrivals)
        bits, ns, pairs = 0, 0, 0
        for (number, at_ns, _), (after, then_ns, size) in pairwise(arrivals):
            if after == number + 1 and then_ns >= at_ns:
                bits, ns, pairs = bits + 8 * size, ns + then_ns - at_ns, pairs + 1
        if pairs < LEAST_PAIRS or ns == 0:
            return None
        return bits * 1e3 / ns


def rate(trains: Sequence[Train], jitter_ms: float = 0.0) -> Estimate:
    """Return the rate shown by trains, or its lower bound. `jitter_ms` is the mean delay above the smallest one."""
    train_rates = [(train, mbps) for train in trains if (mbps := train.mbps()) is not None]
    method = f"dispersion of {len(train_rates)} packet trains"
    rates = [mbps for _, mbps in train_rates]
    if not rates:
        return Estimate(None, None, None, "Mbit/s", method)
    lengths = sorted(train.lasted_ns for train, _ in train_rates)
    noise = min((NOISE_NS + jitter_ms * 1e6) / max(lengths[len(lengths) // 2], 1), 0.5)
    estimate = median(rates, "Mbit/s", method).widened(noise)
    fast = sum(mbps > OWN_SHARE * train.left_mbps for train, mbps in train_rates)
    if 2 * fast > len(train_rates) or NOISE_NS / max(lengths[len(lengths) // 2], 1) > MOST_NOISE:
        return Estimate(None, estimate.low, None, "Mbit/s", f"{method}, as fast as machines take them")
    return estimate
