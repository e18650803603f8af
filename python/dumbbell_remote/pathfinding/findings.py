"""The measured properties of a path, each value with its interval and its method."""

from dataclasses import dataclass, field
from typing import Any

from dumbbell_remote.pathfinding.ecn import NAMES, Codepoints
from dumbbell_remote.pathfinding.idle import Delays, Reordering
from dumbbell_remote.pathfinding.intervals import Estimate, quantile, share
from dumbbell_remote.pathfinding.load import Queue
from dumbbell_remote.pathfinding.policer import Policer


@dataclass
class Way:
    """Properties of one direction."""

    mtu_bytes: int
    trains: Estimate
    ecn: Codepoints
    marked_counts: tuple[int, int]
    delays: Delays | None
    idle_losses: tuple[int, int]
    idle_reordering: Reordering
    copies: int
    packets: int
    busy: Estimate | None = None
    queue: Queue | None = None
    policer: Policer | None = None
    random_losses: tuple[int, int] = (0, 0)
    """Losses, and packets, of transfers with a short queue and of a constant rate below that of the path."""
    load_loss: Estimate | None = None
    load_reordering: Reordering | None = None
    packet_bytes: int = 1500
    """Size of the packets that filled the path, bytes."""

    @property
    def rate(self) -> Estimate:
        """Return the rate of the narrowest link: from packets that waited, if possible, else from trains.

        If trains show no link and no queue was full, packets waited for the end hosts.
        """
        if self.policer is not None:
            return self.policer.rate_mbps
        has_link = self.trains.value is not None or (self.queue is not None and self.queue.full)
        return self.busy if self.busy is not None and has_link else self.trains

    @property
    def loss(self) -> Estimate:
        """Return the random loss: of small packets, and of transfers while the queue was short."""
        idle, more = share(*self.idle_losses, "packets at a low rate"), share(*self.random_losses, "packets")
        if more.low is None or more.high is None or idle.low is None or idle.high is None:
            return idle
        if more.low > idle.high or more.high < idle.low:
            return idle  # the loss rates differ: a transfer has losses of its own
        hits, cases = (a + b for a, b in zip(self.idle_losses, self.random_losses, strict=True))
        return share(hits, cases, "packets while the queue was short")

    @property
    def duplication(self) -> Estimate:
        """Return the share of packets that arrived twice."""
        return share(min(self.copies, self.packets), self.packets, "packets came twice")

    @property
    def reordering(self) -> Reordering:
        """Return the share of packets that arrived after later ones: under load if measured, else idle."""
        return self.load_reordering if self.load_reordering is not None else self.idle_reordering

    @property
    def queue_bytes(self) -> Estimate:
        """Return the size of the queue at the narrowest link."""
        rate, queue = self.rate.value, self.queue
        if queue is None or rate is None:
            return Estimate(None, None, None, "bytes", "nothing filled it")
        if not queue.full:
            low = None if queue.depth_ms.low is None else queue.depth_ms.low * rate * 125.0
            return Estimate(None, low, None, "bytes", queue.depth_ms.how)
        length = queue.bytes(rate, self.packet_bytes)
        assert length is not None
        assert queue.depth_ms.low is not None
        assert queue.depth_ms.high is not None
        # The jitter of the idle path may be a part of each wait.
        varies_ms = self.delays.quantiles_above["p95"] if self.delays is not None and self.delays.jitters else 0.0
        low = (queue.depth_ms.low - varies_ms) * rate * 125.0 - self.packet_bytes
        high = queue.depth_ms.high * rate * 125.0 + 2 * self.packet_bytes
        return Estimate(length, max(low, 0.0), high, "bytes", f"{queue.depth_ms.how}, times the rate")

    def table(self) -> dict[str, object]:
        """Return the properties as JSON values."""
        delays, policer = self.delays, self.policer
        return {
            "mtu_bytes": self.mtu_bytes,
            "rate_mbps": self.rate.table(),
            "trains_mbps": self.trains.table(),
            "delay_ms": None if delays is None else delays.least.table(),
            "delay_above_least_ms": None if delays is None else {"mean": delays.mean_above} | delays.quantiles_above,
            "loss": self.loss.table(),
            "loss_under_load": None if self.load_loss is None else self.load_loss.table(),
            "reordering": self.reordering.share.table(),
            "reordering_held_ms": self.reordering.held_ms,
            "duplication": self.duplication.table(),
            "queue_ms": None if self.queue is None else self.queue.depth_ms.table(),
            "queue_bytes": self.queue_bytes.table(),
            "policer": None
            if policer is None
            else {"rate_mbps": policer.rate_mbps.table(), "burst_bytes": policer.burst_bytes.table()},
            "ecn": {NAMES[code]: self.ecn.verdict(code) for code in sorted(self.ecn.sent_counts)},
            "ecn_marked": share(*self.marked_counts, "packets of trains").table(),
        }


@dataclass
class Findings:
    """All measured properties of a path."""

    ways: dict[str, Way]
    rtt_ms: list[float]
    """Round trips of small packets, ms, sorted."""
    hops: list[dict[str, Any]]
    clocks: dict[str, Any]
    sent_bytes: int
    notes: list[str] = field(default_factory=list)

    @property
    def least_rtt_ms(self) -> float | None:
        """Return the shortest of all round trips, ms."""
        candidates = [float(self.clocks["rtt_ms"]), *self.rtt_ms[:1]]
        return min(candidates)

    def rtt(self) -> dict[str, float]:
        """Return the shortest round trip and quantiles, ms; empty without round trips."""
        if not self.rtt_ms:
            return {}
        parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        return {"least": self.least_rtt_ms or 0.0} | {name: quantile(self.rtt_ms, part) for name, part in parts.items()}

    def table(self) -> dict[str, object]:
        """Return the properties as JSON values."""
        return {
            "rtt_ms": self.rtt(),
            "ways": {name: way.table() for name, way in self.ways.items()},
            "hops": self.hops,
            "clocks": self.clocks,
            "sent_bytes": self.sent_bytes,
            "notes": self.notes,
        }
