"""Detection of a policer, which drops packets without queueing delay.

After Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016, section 3: a burst passes at a higher
rate; from the first loss on the rate is constant; packets are lost if the token bucket of that rate is empty, and
pass otherwise; RTTs show no queue.
"""

from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate
from dumbbell_remote.pathfinding.load import EXACT, NOISE_MS

LEAST_LOSSES = 15
FASTER = 1.3
"""Smallest ratio of the rates of trains and of a long transfer."""
_OBEYS = 0.9
"""Smallest share of losses that find the bucket empty, and of other packets that find tokens."""
_WAIT_SHARE = 0.3


@dataclass(frozen=True)
class Policer:
    """A policer: the rate and size of its token bucket."""

    rate_mbps: Estimate
    burst_bytes: Estimate


def policer(log: FlowLog, trains_mbps: float) -> Policer | None:
    """Return the policer that limited a transfer, or None. `trains_mbps` is the rate of a short burst."""
    losses = np.flatnonzero(log.lost)
    if len(losses) < LEAST_LOSSES:
        return None
    first, last = int(losses[0]), int(losses[-1])
    during = slice(first + 1, last + 1)
    sizes = np.where(log.lost, 0, log.size_bytes).astype(np.float64)
    seconds = float(log.sent_s[last] - log.sent_s[first])
    if seconds <= 0.0:
        return None
    bytes_per_s = float(sizes[during].sum()) / seconds
    if trains_mbps < FASTER * bytes_per_s * 8e-6:
        return None
    packet = float(log.size_bytes.max())
    burst = _burst(log, sizes[:first], bytes_per_s)
    # A policer has no queue: packets that wait are in a shaper.
    waits = log.queueing_before()[losses]
    if float(np.nanmedian(waits)) > max(_WAIT_SHARE * burst / bytes_per_s * 1e3, NOISE_MS):
        return None
    # The bucket has the measured rate and is empty at the first loss. The slack allows for an error of the rate.
    tokens = (log.sent_s[during] - log.sent_s[first]) * bytes_per_s - np.cumsum(sizes[during])
    slack = max(3 * packet, 0.1 * burst)
    is_lost = log.lost[during]
    if np.mean(tokens[is_lost] <= slack) < _OBEYS or np.mean(tokens[~is_lost] >= -slack) < _OBEYS:
        return None
    error = 2 * packet / seconds * 8e-6
    mbps = bytes_per_s * 8e-6
    method = f"what passed between the first and the last of {len(losses)} losses without a queue"
    return Policer(
        Estimate(mbps, mbps - error, mbps + error, "Mbit/s", method).widened(EXACT),
        Estimate(
            burst, burst - packet, burst + 2 * packet, "bytes", "what passed above that rate until the first loss"
        ),
    )


def _burst(log: FlowLog, sizes: "np.typing.NDArray[np.float64]", bytes_per_s: float) -> float:
    """Return the bytes above the bucket's rate before the first loss. The bucket fills while nothing is sent."""
    used, at_s = 0.0, float(log.sent_s[0])
    for size, sent_s in zip(sizes, log.sent_s, strict=False):
        used = max(used - (float(sent_s) - at_s) * bytes_per_s, 0.0) + float(size)
        at_s = float(sent_s)
    return used
