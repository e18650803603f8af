"""The rate, delays and queue of a path, estimated from one run, if no description of the path exists."""

from dataclasses import dataclass

import numpy as np

from dumbbell_reproduce.packets import RunPackets

_BIN_MS = 500.0
_LEAST_BINS = 20
"""Smallest number of intervals whose rates are compared. Short runs have shorter intervals."""
_GAP_RTTS, _LEAST_GAP_MS = 5.0, 200.0
"""Smallest gap without packets in flight that counts as idle time, in round trips and in ms."""
_MOST_IDLE = 0.5
"""Largest share of a run's time that may be idle."""
_LEAST_WAIT_MS, _LEAST_WAIT = 1.0, 0.05
"""Smallest queueing delay of a packet that waited, in ms and as a share of the shortest delay."""
_CALM = 0.3
"""Share of the longest queueing delay below which a loss is random, and not the queue's."""
_LEAST_PACKETS = 100
_LEAST_LOST = 5


@dataclass(frozen=True)
class PathEstimate:
    """The path of one run: its rate, and the shortest packet delay of each direction."""

    rate_mbps: float
    data_ms: float
    ack_ms: float
    data_bytes: int
    """Size of the packet with the shortest delay, which contains the link's time for the packet."""
    wait_ms: float
    """Largest queueing delay, ms."""
    calm_sent: int
    """Number of packets that hardly waited. `calm_lost` counts the lost packets among them."""
    calm_lost: int
    lost_packets: int
    is_round_trip: bool = False
    """True if delays come from one clock, and are comparable with the delays of other runs."""


def estimate_from_packets(packets: RunPackets, by_sender: bool = False) -> PathEstimate | str:
    """Return the estimate of a path, or the reason why there is none. `by_sender`: delays are round trips."""
    way = packets.way()
    if len(way.sizes) < _LEAST_PACKETS:
        return f"it has {len(way.sizes)} packets that arrived: {_LEAST_PACKETS} are needed to tell it"
    delays = way.delays_ms
    times = np.sort(way.arrived_ms)
    gaps, taken_ms = np.diff(times), float(times[-1] - times[0])
    idle_ms = float(gaps[gaps > max(_LEAST_GAP_MS, _GAP_RTTS * float(delays.min()))].sum())
    if taken_ms <= 0.0 or idle_ms > _MOST_IDLE * taken_ms:
        return f"nothing was under way in {idle_ms / 1e3:.1f} of its {taken_ms / 1e3:.1f} s: the sender was idle"
    bin_ms = min(_BIN_MS, taken_ms / _LEAST_BINS)
    bins = np.bincount(((times - times[0]) / bin_ms).astype(np.int64), weights=way.sizes[np.argsort(way.arrived_ms)])
    rate_mbps = float(np.percentile(bins[bins > 0.0], 95.0)) * 8.0 / bin_ms / 1e3
    least = float(np.percentile(delays, 0.1))
    wait = float(np.percentile(delays, 99.5)) - least
    calm = delays - least < _CALM * wait if wait > 1.0 else np.ones(len(delays), bool)
    losses = packets.lost_beside()
    if not len(losses) and wait < max(_LEAST_WAIT_MS, _LEAST_WAIT * abs(least)):
        return "no packet waited and none was lost: what limited the sender is not known"
    if by_sender and len(losses) >= _LEAST_LOST:
        # an ACK may wait 40 ms for a second packet, so only packets sent just before losses show the full queue
        full = float(np.percentile(delays[losses], 75.0)) - least
        wait = min(wait, full) if full >= _CALM * wait else wait
    shortest = int(np.argmin(delays))
    data_ms = ack_ms = float(delays[shortest])
    if by_sender:
        data_ms = ack_ms = data_ms / 2.0
    elif len((back := packets.way(ack=True)).sizes):
        ack_ms = float(back.delays_ms.min())
    return PathEstimate(
        rate_mbps=rate_mbps,
        data_ms=data_ms,
        ack_ms=ack_ms,
        data_bytes=int(way.sizes[shortest]),
        wait_ms=wait,
        calm_sent=int(np.count_nonzero(calm)),
        calm_lost=int(np.count_nonzero(calm[losses])) if len(losses) else 0,
        lost_packets=len(losses),
        is_round_trip=by_sender,
    )
