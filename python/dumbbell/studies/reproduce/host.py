"""The host of a test: how late it was, and how much its sockets hold; told by some runs, used for others."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

from dumbbell.catalog.families import family
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.studies.reproduce.measured import MeasuredRun
from dumbbell.studies.reproduce.packets import Lateness

TRUESIZE_BYTES = 2304
"""Memory of a packet of 1448 bytes in a socket of Linux (docs/guide.md, socket buffers)."""
_PACED = 0.5
"""Share of packets apart from ACKs above which a sender is paced: none of 66 public logs had 0.02 to 0.88."""
_DIGITS = 2
_WMEM_FIRST = (4096, 16384)


@dataclass(frozen=True)
class HostEstimate:
    """What one run tells of its host: lateness of both directions, and packets that its socket held at most."""

    data: Lateness | None = None
    ack: Lateness | None = None
    buffer_packets: int | None = None


@dataclass(frozen=True)
class Late:
    """How late packets of a direction are, beyond the model of the link: a uniform random time, ms."""

    mean_ms: float
    deviation_ms: float

    @classmethod
    def of(cls, found: Iterable[Lateness | None]) -> "Late | None":
        """The medians of some runs; None of none. A host is never early: the width is at most the mean."""
        known = [each for each in found if each is not None]
        if not known:
            return None
        mean = max(median(each.mean_ms for each in known), 0.0)
        width = min(math.sqrt(3.0) * median(each.deviation_ms for each in known), mean)
        return cls(round(mean, _DIGITS), round(width, _DIGITS))

    def element(self) -> Element:
        """The element of a path that is as late."""
        return {
            "kind": "jitter",
            "name": "lateness",
            "distribution": "uniform",
            "mean_ms": self.mean_ms,
            "deviation_ms": self.deviation_ms,
        }


@dataclass(frozen=True)
class HostProfile:
    """A host as some runs tell it. None is what they do not tell."""

    data: Late | None = None
    ack: Late | None = None
    buffer_packets: int | None = None

    @classmethod
    def of(cls, same_path: Iterable[HostEstimate], same_host: Iterable[HostEstimate]) -> "HostProfile":
        """The medians of what some runs tell: of lateness those on the same path, whose bursts make a host late.

        Of the buffer it is all that were limited by it.
        """
        known = list(same_path)
        buffers = [each.buffer_packets for each in same_host if each.buffer_packets is not None]
        return cls(
            Late.of(each.data for each in known),
            Late.of(each.ack for each in known),
            round(median(buffers)) if buffers else None,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return self == HostProfile()

    def path(self, path: PathModel, name: str) -> PathModel:
        """The path between such hosts, called `name`."""
        data = [self.data.element()] if self.data and self.data.mean_ms else []
        ack = [self.ack.element()] if self.ack and self.ack.mean_ms else []
        return replace(path, name=name, data=[*path.data, *data], ack=[*path.ack, *ack])

    def scheme(self, scheme: Scheme) -> Scheme:
        """The scheme with this host's socket, if it is one of the kernel's TCP."""
        if self.buffer_packets is None or not is_tcp(scheme):
            return scheme
        memory = {
            "tcp_wmem": [*_WMEM_FIRST, self.buffer_packets * TRUESIZE_BYTES],
            "skb_truesize_bytes": TRUESIZE_BYTES,
        }
        return replace(scheme, transport=scheme.transport | memory)

    def text(self) -> str:
        """For people."""
        parts = [
            f"{way} {late.mean_ms:.2f} ms late, plus or minus {late.deviation_ms:.2f}"
            for way, late in (("data", self.data), ("ACKs", self.ack))
            if late is not None
        ]
        parts += [] if self.buffer_packets is None else [f"a socket holds {self.buffer_packets} packets"]
        return "; ".join(parts) or "nothing"

    def as_json(self) -> dict[str, object]:
        """For programs."""
        late = {
            way: None if each is None else {"mean_ms": each.mean_ms, "deviation_ms": each.deviation_ms}
            for way, each in (("data", self.data), ("ack", self.ack))
        }
        return late | {"buffer_packets": self.buffer_packets}


def has_fq(runs: Iterable[MeasuredRun]) -> bool:
    """Return True if the kernel paces the TCP of these runs, as the queueing discipline `fq` makes Linux do.

    Schemes whose controllers pace by themselves, such as BBR, do not tell.
    """
    shares = [
        share
        for run in runs
        if run.has_packets and is_tcp(run.scheme) and family(run.scheme.name) in ("loss", "delay")
        if (share := run.packets.apart_from_acks) is not None
    ]
    return bool(shares) and median(shares) > _PACED


def is_tcp(scheme: Scheme) -> bool:
    """Whether a scheme's transport is the kernel's TCP: its socket holds what is not acknowledged yet.

    Programs that bring a transport of their own fix the size of their packets.
    """
    transport = scheme.transport
    return scheme.kind == "core" and transport.get("profile") in _TCP_PROFILES and "payload_bytes" not in transport


_TCP_PROFILES = ("tcp", "linux-like", "linux", "linux-offload")
