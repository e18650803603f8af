"""Progress on stderr: one line that is rewritten on a terminal, plain lines elsewhere."""

import shutil
import sys
import time

from dumbbell.errors import printable

PLAIN_LINE_EVERY_S = 5.0
FIRST_LINE_AFTER_S = 1.0


class Progress:
    """Counts finished runs and says so, not too often."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.failed = 0
        self.started = time.monotonic()
        self.said = self.started + FIRST_LINE_AFTER_S - PLAIN_LINE_EVERY_S
        self.terminal = sys.stderr.isatty()

    def step(self, label: str, status: str, reason: str | None) -> None:
        """One more run is over; `reason` tells why its numbers do not count, if they do not."""
        self.done += 1
        if reason is not None:
            self.failed += status != "degraded"
            self._erase()
            print(printable(f"{status}: {label}: {reason}"), file=sys.stderr)
        now = time.monotonic()
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{self._text(label, now)[:width]}", end="", file=sys.stderr, flush=True)
        elif now - self.said >= PLAIN_LINE_EVERY_S:
            self.said = now
            print(self._text(label, now), file=sys.stderr, flush=True)

    def _text(self, label: str, now: float) -> str:
        elapsed = now - self.started
        left = f", {_span(elapsed / self.done * (self.total - self.done))} left"
        if self.done == 1 < self.total and elapsed < PLAIN_LINE_EVERY_S:
            left = ""  # most of the time of the first run is the start of the processes
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.done}/{self.total} runs{failed}, {_span(elapsed)} gone{left}: {label}"

    def _erase(self) -> None:
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr)

    def close(self) -> None:
        """Leaves a clean line."""
        self._erase()


def _span(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"
