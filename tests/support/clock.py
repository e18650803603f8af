"""Clock whose time only a test changes."""

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from dumbbell.base.clock import Clock
from support.waiting import wait_for

T = TypeVar("T")

_LOOK_EVERY_S = 0.002
"""Time between two checks for the end of a wait, s of real time."""


class ManualClock(Clock):
    """A clock that stands still until a test turns it, or until the code under test sleeps.

    A wait ends as soon as its event happens, or when another thread has turned the clock past the end of the wait. Of a
    clock that `turns_in_waits` the waiting thread turns it itself: what has not happened by then does not happen.
    """

    def __init__(self, began_s: float = 1_800_000_000.0, turns_in_waits: bool = False) -> None:
        """Begin at `began_s`, Unix time: 2027-01-15T08:00:00Z."""
        self._began_s = began_s
        self._passed_s = 0.0
        self._turning = threading.Lock()
        self._turns_in_waits = turns_in_waits
        self._waits: dict[object, float] = {}
        """Time at which each pending wait ends."""
        self.slept_s: list[float] = []
        """Durations of the sleeps, s."""

    def turn(self, seconds: float) -> None:
        """Advance the clock."""
        with self._turning:
            self._passed_s += seconds

    def is_waited_by(self, count: int = 1, least_s: float = 0.0) -> bool:
        """Return True if `count` threads wait by this clock, each for more than `least_s` from now on."""
        after_s = self.monotonic() + least_s
        return sum(until_s > after_s for until_s in list(self._waits.values())) >= count

    def until_waiting(self, count: int = 1, least_s: float = 0.0) -> None:
        """Wait until `count` threads wait by this clock, each for more than `least_s` from now on."""
        wait_for(lambda: self.is_waited_by(count, least_s))

    def time(self) -> float:
        return self._began_s + self._passed_s

    def time_ns(self) -> int:
        return round(self.time() * 1e9)

    def monotonic(self) -> float:
        return 1000.0 + self._passed_s

    def thread_time(self) -> float:
        return self._passed_s

    def sleep(self, seconds: float) -> None:
        self.slept_s.append(seconds)
        self.turn(seconds)

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)  # noqa: TID251 (lets others run, and takes no time)

    def wait(self, operation: Callable[[float | None], T], timeout_s: float | None) -> T:
        until_s = math.inf if timeout_s is None else self.monotonic() + timeout_s
        if self._turns_in_waits and timeout_s is not None:
            if not (result := operation(0.0)):
                self.turn(timeout_s)
                result = operation(0.0)
            return result
        with self._count_wait(until_s):
            while True:
                is_over = self.monotonic() >= until_s
                result = operation(0.0 if is_over else _LOOK_EVERY_S)
                if result or is_over:
                    return result

    @contextmanager
    def _count_wait(self, until_s: float) -> Iterator[None]:
        key = object()
        self._waits[key] = until_s
        try:
            yield
        finally:
            del self._waits[key]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()
