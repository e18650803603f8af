"""The rate, delays and queue of a path as one run shows them, where nobody says how it was built."""

from dataclasses import dataclass

import numpy as np

from dumbbell.studies.reproduce.packets import RunPackets

_BIN_MS = 500.0
_CALM = 0.3
"""Share of the longest wait below which a loss is not the queue's."""
_LEAST_PACKETS = 100
_LEAST_LOST = 5


@dataclass(frozen=True)
class Seen:
    """What one run shows of its path: its rate, and the shortest delay of each direction, which a packet had."""

    rate_mbps: float
    data_ms: float
    ack_ms: float
    data_bytes: int
    """Size of the packet with the shortest delay, which the link took its time for."""
    wait_ms: float
    """How much longer than the shortest delay packets took, at most."""
    calm_sent: int
    """Packets that hardly waited, and those of them that were lost."""
    calm_lost: int
    lost: int
    is_round_trip: bool = False
    """Whether delays are of one clock, and can be compared with those of other runs."""


def seen_in_packets(packets: RunPackets, by_sender: bool = False) -> Seen | None:
    """Return what packets show; None of a run that hardly sent. `by_sender`: delays are round trips."""
    way = packets.way()
    if len(way.sizes) < _LEAST_PACKETS:
        return None
    bins = np.bincount(np.maximum(way.arrived_ms / _BIN_MS, 0.0).astype(np.int64), weights=way.sizes)
    rate_mbps = float(np.percentile(bins, 95.0)) * 8.0 / _BIN_MS / 1e3
    delays = way.delays_ms
    least = float(np.percentile(delays, 0.1))
    wait = float(np.percentile(delays, 99.5)) - least
    calm = delays - least < _CALM * wait if wait > 1.0 else np.ones(len(delays), bool)
    lost = packets.lost_beside()
    if by_sender and len(lost) >= _LEAST_LOST:
        # an ACK may wait 40 ms for a second packet: of a full queue those tell that were sent just before lost ones
        full = float(np.percentile(delays[lost], 75.0)) - least
        wait = min(wait, full) if full >= _CALM * wait else wait
    shortest = int(np.argmin(delays))
    data_ms = ack_ms = float(delays[shortest])
    if by_sender:
        data_ms = ack_ms = data_ms / 2.0
    elif len((back := packets.way(ack=True)).sizes):
        ack_ms = float(back.delays_ms.min())
    return Seen(
        rate_mbps=rate_mbps,
        data_ms=data_ms,
        ack_ms=ack_ms,
        data_bytes=int(way.sizes[shortest]),
        wait_ms=wait,
        calm_sent=int(np.count_nonzero(calm)),
        calm_lost=int(np.count_nonzero(calm[lost])) if len(lost) else 0,
        lost=len(lost),
        is_round_trip=by_sender,
    )
