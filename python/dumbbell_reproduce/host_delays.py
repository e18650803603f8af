"""Delays that a host adds, and the packets that its sockets hold, estimated from some runs and used for others."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell_reproduce.kernel_tcp import TRUESIZE_BYTES, is_tcp, paces_itself
from dumbbell_reproduce.measured_set import MeasuredRun
from dumbbell_reproduce.packets import Lateness

_PACED = 0.5
"""Share of packets apart from ACKs above which a sender is paced. None of 66 public logs has a share between 0.02 and
0.88."""
_LEAST_LATE_MS = 0.1
"""Mean lateness below which a host is exact: logs of Mahimahi's link have whole milliseconds."""
_DIGITS = 2
_WMEM_FIRST = (4096, 16384)


@dataclass(frozen=True)
class HostEstimate:
    """The host as one run shows it: lateness in both directions, and the largest number of packets in its socket."""

    data: Lateness | None = None
    ack: Lateness | None = None
    buffer_packets: int | None = None


@dataclass(frozen=True)
class ExtraDelay:
    """Extra delay of a direction beyond the model of the link: a uniform random time, ms."""

    mean_ms: float
    deviation_ms: float

    @classmethod
    def of(cls, estimates: Iterable[Lateness | None]) -> "ExtraDelay | None":
        """Return the medians of some runs; None without runs, and for hosts that are hardly late.

        A host is never early: the width is at most the mean.
        """
        latenesses = [lateness for lateness in estimates if lateness is not None]
        if not latenesses:
            return None
        mean = max(median(lateness.mean_ms for lateness in latenesses), 0.0)
        if mean < _LEAST_LATE_MS:
            return None
        width = min(math.sqrt(3.0) * median(lateness.deviation_ms for lateness in latenesses), mean)
        return cls(round(mean, _DIGITS), round(width, _DIGITS))

    def element(self) -> Element:
        """Return the path element that adds this delay."""
        return {
            "kind": "jitter",
            "name": "lateness",
            "distribution": "uniform",
            "mean_ms": self.mean_ms,
            "deviation_ms": self.deviation_ms,
        }


@dataclass(frozen=True)
class HostProfile:
    """Delays and buffers of a host. None means unknown.

    Attributes:
        data: Lateness of data packets behind the link.
        ack: Lateness of ACKs behind the link.
        buffer_packets: Packets that the sender's socket holds.
        wakes_ms: Time between two wake-ups of the host, ms, at which all packets leave that wait, in each direction.
    """

    data: ExtraDelay | None = None
    ack: ExtraDelay | None = None
    buffer_packets: int | None = None
    wakes_ms: float | None = None

    @classmethod
    def of(cls, same_path: Iterable[HostEstimate], same_host: Iterable[HostEstimate]) -> "HostProfile":
        """Return the medians over some runs: lateness from runs on the same path, whose bursts make a host late.

        The buffer is the median over all runs that it limited.
        """
        path_estimates = list(same_path)
        buffers = [estimate.buffer_packets for estimate in same_host if estimate.buffer_packets is not None]
        return cls(
            ExtraDelay.of(estimate.data for estimate in path_estimates),
            ExtraDelay.of(estimate.ack for estimate in path_estimates),
            round(median(buffers)) if buffers else None,
        )

    @property
    def is_empty(self) -> bool:
        """True if the host adds no delay and limits no buffer."""
        return self == HostProfile()

    @property
    def is_late(self) -> bool:
        """True if packets leave later than the link lets them."""
        return replace(self, buffer_packets=None) != HostProfile()

    def path(self, path: PathModel, name: str, socket: Sequence[Element] = ()) -> PathModel:
        """Return the path between such hosts, called `name`. Packets that leave a host together meet `socket`."""
        wakes: list[Element] = [{"kind": "slotted", "slot_ms": self.wakes_ms}] if self.wakes_ms else []
        data = [self.data.element()] if self.data else []
        ack = [self.ack.element()] if self.ack else []
        more = [element for element in socket if element not in path.data] if wakes else []
        return replace(path, name=name, data=[*path.data, *data, *wakes, *more], ack=[*path.ack, *ack, *wakes])

    def scheme(self, scheme: Scheme) -> Scheme:
        """Return the scheme with this host's socket buffer, if the scheme uses the kernel's TCP."""
        if self.buffer_packets is None or not is_tcp(scheme):
            return scheme
        memory = {
            "tcp_wmem": [*_WMEM_FIRST, self.buffer_packets * TRUESIZE_BYTES],
            "skb_truesize_bytes": TRUESIZE_BYTES,
        }
        return replace(scheme, transport=scheme.transport | memory)

    def text(self) -> str:
        """Return a description of the profile for people."""
        parts = [
            f"{way} {late.mean_ms:.2f} ms late, plus or minus {late.deviation_ms:.2f}"
            for way, late in (("data", self.data), ("ACKs", self.ack))
            if late is not None
        ]
        parts += [] if self.wakes_ms is None else [f"packets leave every {self.wakes_ms:g} ms"]
        parts += [] if self.buffer_packets is None else [f"a socket holds {self.buffer_packets} packets"]
        return "; ".join(parts) or "nothing"

    def as_json(self) -> dict[str, object]:
        """Return the profile as JSON values."""
        late = {
            way: None if lateness is None else {"mean_ms": lateness.mean_ms, "deviation_ms": lateness.deviation_ms}
            for way, lateness in (("data", self.data), ("ack", self.ack))
        }
        return late | {"buffer_packets": self.buffer_packets, "wakes_ms": self.wakes_ms}


def has_fq(runs: Iterable[MeasuredRun]) -> bool:
    """Return True if the kernel paces the TCP of these runs, as Linux does with the queueing discipline `fq`.

    Schemes whose controllers pace by themselves, such as BBR, do not tell.
    """
    shares = [
        share
        for run in runs
        if run.has_packets and is_tcp(run.scheme) and not paces_itself(run.scheme)
        if (share := run.packets.apart_from_acks) is not None
    ]
    return bool(shares) and median(shares) > _PACED
