"""The clock as an argument. Code whose behaviour depends on time takes a `Clock` and reads no other clock.

This module is the only one that reads the system's clock. Tests pass a clock that they advance themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import select
    from datetime import datetime

T = TypeVar("T")


class Clock:
    """The clock of the system. Derived classes replace the time and the waiting."""

    def time(self) -> float:
        """Return the wall-clock time, s since 1970 in UTC."""
        return time.time()

    def time_ns(self) -> int:
        """Return the wall-clock time, ns since 1970 in UTC."""
        return time.time_ns()

    def utc(self) -> datetime:
        """Return the wall-clock time as date and time of day in UTC."""
        from datetime import UTC, datetime  # takes a while to import, and few programs need dates

        return datetime.fromtimestamp(self.time(), UTC)

    def monotonic(self) -> float:
        """Return the time of a clock that is never set, s. Only differences have a meaning."""
        return time.monotonic()

    def thread_time(self) -> float:
        """Return the CPU time that the calling thread has used, s."""
        return time.thread_time()

    def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        """Let other coroutines run, and return after `seconds`."""
        import asyncio  # takes a while to import, and few programs have coroutines

        await asyncio.sleep(seconds)

    def wait(self, operation: Callable[[float | None], T], timeout_s: float | None) -> T:
        """Wait by `operation`, for `timeout_s` at most; return its result.

        Args:
            operation: Blocks until an event has happened, or for as long as its argument, s (None: without a limit). It
                returns a false value if no event has happened, as `threading.Event.wait` does.
            timeout_s: Longest time to wait, s; None waits without a limit.
        """
        return operation(timeout_s)


SYSTEM_CLOCK = Clock()


def polling(poll: select.poll) -> Callable[[float | None], list[tuple[int, int]]]:
    """Return a function for `Clock.wait` that waits for the descriptors of `poll`, with the result of `poll.poll`."""
    return lambda timeout_s: poll.poll(None if timeout_s is None else timeout_s * 1000)


def now(clock: Clock = SYSTEM_CLOCK) -> str:
    """Return the time in UTC, to the second, as ISO 8601."""
    return clock.utc().strftime("%Y-%m-%dT%H:%M:%SZ")
