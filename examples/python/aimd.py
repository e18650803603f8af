"""Additive increase, multiplicative decrease: TCP Reno (RFC 5681), which is what dumbbell's own `reno` does.

dumbbell run --plugin aimd.py --path default
"""

import math

from dumbbell.plugins import Ack, Ecn, Loss, Start, Timeout

SMALLEST = 2.0  # packets after a reduction (RFC 5681 equation 4)


class Aimd:
    """Additive increase, multiplicative decrease: TCP Reno (RFC 5681) in Python."""

    FIELDS = {"cwnd": "packets", "ssthresh": "packets"}  # noqa: RUF012 (a constant)

    def __init__(self, start: Start, beta: float = 0.5) -> None:
        """Set `beta`, the factor of the window kept on loss: `--set aimd.beta=0.7`."""
        self.mss = start.mss_bytes
        self.window = start.initial_window_bytes / self.mss
        self.ssthresh = math.inf
        self.beta = beta
        self.before = (0.0, 0.0)  # window and ssthresh before the last reduction on loss, to undo it

    def on_ack(self, ack: Ack) -> None:
        """Grow the window."""
        in_slow_start = self.window < self.ssthresh
        if ack.in_recovery or not ack.may_grow(math.floor(self.window * self.mss), in_slow_start):
            return
        packets = ack.growth_bytes / self.mss
        if in_slow_start:
            new_window = min(self.window + packets, self.ssthresh)
            packets -= new_window - self.window
            self.window = new_window
        self.window += packets / self.window  # what is left after slow start: one packet per round trip

    def on_loss(self, loss: Loss) -> None:
        """Reduce the window, once per episode."""
        if loss.new_episode:
            self.before = (self.window, self.ssthresh)
            self._reduce()

    def on_spurious_loss(self, _now_s: float) -> None:
        """Undo the reduction."""
        self.window = max(self.window, self.before[0])
        self.ssthresh = max(self.ssthresh, self.before[1])
        self.before = (0.0, 0.0)

    def on_timeout(self, timeout: Timeout) -> None:
        """Start over with one packet; after persistent congestion, whose losses reduced the window, with two."""
        if not (timeout.persistent or timeout.repeated):
            self.before = (self.window, self.ssthresh)
            self._reduce()
        self.window = SMALLEST if timeout.persistent else 1.0

    def on_ecn(self, ecn: Ecn) -> None:
        """Reduce the window, once per round trip."""
        if ecn.new_episode:
            self.before = (0.0, 0.0)
            self._reduce()

    def control(self) -> float:
        """Return the window, bytes."""
        return math.floor(self.window * self.mss)

    def fields(self) -> dict[str, float]:
        """Return values for plots."""
        return {"cwnd": self.window, "ssthresh": self.ssthresh if math.isfinite(self.ssthresh) else math.nan}

    def _reduce(self) -> None:
        self.ssthresh = max(self.window * self.beta, SMALLEST)
        self.window = self.ssthresh
