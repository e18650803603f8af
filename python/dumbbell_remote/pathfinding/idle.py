"""What a path does to few small packets: constants, loss that no queue explains, jitter, another order, copies."""

from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate, share

LEAST_JITTER_MS = 0.5
"""Less than this on average is what machines do to packets, not networks."""


@dataclass(frozen=True)
class Reordering:
    """Packets that came after later ones (RFC 4737, section 3), and how much longer than their neighbours they took."""

    share: Estimate
    held_ms: float | None


def reordering(log: FlowLog) -> Reordering:
    """How many came after later ones, and how much longer than others those took."""
    came = log.where(~log.lost)
    overtaken = came.overtaken()
    found = share(int(overtaken.sum()), len(overtaken), "packets came after later ones")
    if not overtaken.any():
        return Reordering(found, None)
    # Beside what waited as long in queues: their neighbours.
    usual_ms = np.interp(came.sent_s[overtaken], came.sent_s[~overtaken], came.delay_ms[~overtaken])
    return Reordering(found, float(np.median(came.delay_ms[overtaken] - usual_ms)))


@dataclass(frozen=True)
class Delays:
    """One-way delays of small packets, ms; `least` is off by the interval of the clocks, the rest is above it."""

    least: Estimate
    mean_above: float
    quantiles_above: dict[str, float]
    packet_bytes: int

    @property
    def jitters(self) -> bool:
        """Whether the path itself makes delays vary."""
        return self.mean_above > LEAST_JITTER_MS


def delays(log: FlowLog, uncertainty_ms: tuple[float, float]) -> Delays | None:
    """One-way delays, where the true ones are larger than those of the log by what lies in the interval."""
    known = log.delay_ms[~log.lost]
    if not len(known):
        return None
    least = float(known.min())
    above = known - least
    how = f"least of {len(known)} small packets; the interval is that of the clocks"
    parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return Delays(
        Estimate(least, max(least + uncertainty_ms[0], 0.0), least + uncertainty_ms[1], "ms", how),
        float(above.mean()),
        {name: float(np.quantile(above, part)) for name, part in parts.items()},
        int(log.size_bytes.max()),
    )


def losses(log: FlowLog) -> tuple[int, int]:
    """How many packets were lost without load, of how many."""
    return int(log.lost.sum()), len(log.lost)
