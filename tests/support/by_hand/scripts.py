"""CUBIC's window, computed from the formulas of RFC 9438: the source of the numbers in the built-in scripts."""

from math import cbrt

C, BETA = 0.4, 0.7
ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)


class CubicByHand:
    """Congestion avoidance with one ACK per segment; packets and seconds."""

    def __init__(self, window: float, reno_friendly: bool) -> None:
        self.cwnd = window
        self.reno_friendly = reno_friendly
        self.w_max = self.prior = self.k = self.origin = self.w_est = 0.0
        self.began: float | None = None

    def lose(self) -> None:
        """Reduce the window after a loss: sections 4.6 and 4.7."""
        self.prior = self.cwnd
        self.w_max = self.cwnd * (1.0 + BETA) / 2.0 if self.cwnd < self.w_max else self.cwnd
        self.cwnd, self.began = max(BETA * self.cwnd, 2.0), None

    def cubic(self, t: float) -> float:
        """Return the window after `t` seconds: equation 1."""
        return C * (t - self.k) ** 3 + self.origin

    def acknowledge(self, now: float, rtt: float, segments: int) -> float:
        """Return the window after `segments` ACKs: sections 4.2 to 4.5."""
        for _ in range(segments):
            if self.began is None:
                self.began, self.origin, self.w_est = now, max(self.w_max, self.cwnd), self.cwnd
                self.k = cbrt((self.origin - self.cwnd) / C)
            t = now - self.began
            self.w_est += (1.0 if self.w_est >= self.prior else ALPHA) / self.cwnd
            if self.reno_friendly and self.cubic(t) < self.w_est:
                self.cwnd = max(self.w_est, self.cwnd)
            else:
                target = min(max(self.cubic(t + rtt), self.cwnd), 1.5 * self.cwnd)
                self.cwnd += (target - self.cwnd) / self.cwnd
        return self.cwnd
