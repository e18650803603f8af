"""A policer shows itself by what it lacks: it drops without having made anything wait.

After Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016, section 3: a burst passes at a higher
rate; from the first loss on the rate stands still; packets are lost when the token bucket of that rate is empty, and
pass when it is not; RTTs do not tell of a queue.
"""

from dataclasses import dataclass

import numpy as np

from dumbbell_remote.pathfinding.flow_log import FlowLog
from dumbbell_remote.pathfinding.intervals import Estimate
from dumbbell_remote.pathfinding.load import EXACT, NOISE_MS

LEAST_LOSSES = 15
FASTER = 1.3
"""Trains are faster than what lasts at least so many times."""
_OBEYS = 0.9
"""So many of the losses have to find the bucket empty, and of the packets that pass to find tokens."""
_WAIT_SHARE = 0.3


@dataclass(frozen=True)
class Policer:
    """A token bucket."""

    rate_mbps: Estimate
    burst_bytes: Estimate


def policer(log: FlowLog, trains_mbps: float) -> Policer | None:
    """The policer that a transfer met which was faster than it; `trains_mbps` is what a short burst may have."""
    lost = np.flatnonzero(log.lost)
    if len(lost) < LEAST_LOSSES:
        return None
    first, last = int(lost[0]), int(lost[-1])
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
    # What waits is in a queue: a shaper's, not a policer's.
    waits = log.before()[lost]
    if float(np.nanmedian(waits)) > max(_WAIT_SHARE * burst / bytes_per_s * 1e3, NOISE_MS):
        return None
    # The bucket of that rate, empty at the first loss; it may be off by what a rate that is a little off makes.
    tokens = (log.sent_s[during] - log.sent_s[first]) * bytes_per_s - np.cumsum(sizes[during])
    slack = max(3 * packet, 0.1 * burst)
    gone = log.lost[during]
    if np.mean(tokens[gone] <= slack) < _OBEYS or np.mean(tokens[~gone] >= -slack) < _OBEYS:
        return None
    error = 2 * packet / seconds * 8e-6
    mbps = bytes_per_s * 8e-6
    how = f"what passed between the first and the last of {len(lost)} losses without a queue"
    return Policer(
        Estimate(mbps, mbps - error, mbps + error, "Mbit/s", how).widened(EXACT),
        Estimate(
            burst, burst - packet, burst + 2 * packet, "bytes", "what passed above that rate until the first loss"
        ),
    )


def _burst(log: FlowLog, sizes: "np.typing.NDArray[np.float64]", bytes_per_s: float) -> float:
    """How much the bucket had given above its rate before the first loss, bytes: it is full when nothing is sent."""
    used, at_s = 0.0, float(log.sent_s[0])
    for size, sent_s in zip(sizes, log.sent_s, strict=False):
        used = max(used - (float(sent_s) - at_s) * bytes_per_s, 0.0) + float(size)
        at_s = float(sent_s)
    return used
