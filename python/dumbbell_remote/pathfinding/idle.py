"""The effects of a path on a few small packets: constant delay, random loss, jitter, reordering, duplicates."""

from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate, share

LEAST_JITTER_MS = 0.5
"""Mean jitter below which machines, not networks, are the cause, ms."""


@dataclass(frozen=True)
class Reordering:
    """Packets that arrived after later ones (RFC 4737, section 3), and their extra delay."""

    share: Estimate
    held_ms: float | None


def reordering(log: FlowLog) -> Reordering:
    """Return the share of packets that arrived after later ones, and the median of their extra delay."""
    came = log.select(~log.lost)
    overtaken = came.overtaken()
    overtaken_share = share(int(overtaken.sum()), len(overtaken), "packets came after later ones")
    if not overtaken.any():
        return Reordering(overtaken_share, None)
    # The reference are packets sent about then, which waited as long in queues.
    usual_ms = np.interp(came.sent_s[overtaken], came.sent_s[~overtaken], came.delay_ms[~overtaken])
    return Reordering(overtaken_share, float(np.median(came.delay_ms[overtaken] - usual_ms)))


@dataclass(frozen=True)
class Delays:
    """One-way delays of small packets, ms. The clocks make `least` uncertain; other values are relative to it."""

    least: Estimate
    mean_above: float
    quantiles_above: dict[str, float]
    packet_bytes: int

    @property
    def jitters(self) -> bool:
        """True if the path itself makes delays vary."""
        return self.mean_above > LEAST_JITTER_MS


def delays(log: FlowLog, uncertainty_ms: tuple[float, float]) -> Delays | None:
    """Return the one-way delays. `uncertainty_ms` is the interval of (true delay - logged delay)."""
    known_ms = log.delay_ms[~log.lost]
    if not len(known_ms):
        return None
    least = float(known_ms.min())
    above = known_ms - least
    method = f"least of {len(known_ms)} small packets; the interval is that of the clocks"
    parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return Delays(
        Estimate(least, max(least + uncertainty_ms[0], 0.0), least + uncertainty_ms[1], "ms", method),
        float(above.mean()),
        {name: float(np.quantile(above, part)) for name, part in parts.items()},
        int(log.size_bytes.max()),
    )


def losses(log: FlowLog) -> tuple[int, int]:
    """Return the number of packets lost without load, and the number of packets."""
    return int(log.lost.sum()), len(log.lost)
