"""Tests of the watchdog of an arbitrary process: the times of its checks, and the end of a process that broke away."""

import contextlib
import os
import select
from collections.abc import Iterator

import pytest

from dumbbell.base import guardian
from dumbbell.base.errors import UserError
from support.clock import ManualClock

Ends = tuple[int, int]


@pytest.fixture(name="pipes")
def _pipes() -> Iterator[tuple[Ends, Ends]]:
    """Yield the pipe whose end shows that the process has ended, and the pipe of its messages."""
    pipes = os.pipe(), os.pipe()
    yield pipes
    for descriptor in (*pipes[0], *pipes[1]):
        with contextlib.suppress(OSError):  # the test has closed it
            os.close(descriptor)


class Keeper:
    """Checks a process, and finds a fault after `most` checks."""

    def __init__(self, clock: ManualClock, limit: int = 10**6) -> None:
        self._clock, self._most = clock, limit
        self.looked_s: list[float] = []
        self.said: list[str] = []

    def finds_too_much(self) -> bool:
        self.looked_s.append(self._clock.monotonic())
        return len(self.looked_s) >= self._most

    def say(self, text: str) -> bool:
        self.said.append(text)
        return True


class Ear:
    """Listens to a process until its end of the pipe is closed, or its message is empty."""

    def __init__(self, source: int) -> None:
        self._source = source

    def fileno(self) -> int:
        return self._source

    def hear(self) -> None:
        read = os.read(self._source, 100)
        if not read:
            raise EOFError
        if read == b"garbage":
            raise UserError("told what no process tells")


def watch(clock: ManualClock, pipes: tuple[Ends, Ends], keeper: Keeper | None) -> set[int]:
    (end, _), (source, _) = pipes
    poll = select.poll()
    for descriptor in (end, source):
        poll.register(descriptor, select.POLLIN)
    return guardian._wait(poll, Ear(source), keeper, {end}, clock)  # type: ignore[arg-type]  # what it uses


def test_a_process_is_looked_at_ten_times_a_second(pipes: tuple[Ends, Ends]) -> None:
    clock = ManualClock(turns_in_waits=True)
    keeper = Keeper(clock, limit=50)
    assert watch(clock, pipes, keeper) == set()
    apart_s = [later - earlier for earlier, later in zip(keeper.looked_s, keeper.looked_s[1:], strict=False)]
    assert len(apart_s) == 49
    # A check that comes a rounding error too early is left out.
    assert all(0.99 * guardian.LOOK_S < gap_s < 2.01 * guardian.LOOK_S for gap_s in apart_s)


def test_a_process_that_lets_go_of_its_connection_has_a_while_to_end(pipes: tuple[Ends, Ends]) -> None:
    clock = ManualClock(turns_in_waits=True)
    keeper, began_s = Keeper(clock), clock.monotonic()
    os.close(pipes[1][1])
    assert watch(clock, pipes, keeper) == set()
    assert keeper.said == ["let go of its connection to dumbbell"]
    assert guardian.LET_GO_S < clock.monotonic() - began_s < guardian.LET_GO_S + 3 * guardian.LOOK_S


def test_a_process_that_ends_is_seen_at_once(pipes: tuple[Ends, Ends]) -> None:
    clock = ManualClock()  # nobody turns it: nothing else could end the watch
    os.write(pipes[0][1], b"x")
    assert watch(clock, pipes, Keeper(clock)) == {pipes[0][0]}
    assert watch(clock, pipes, None) == {pipes[0][0]}


def test_a_process_that_says_what_it_may_not_is_ended_at_once(pipes: tuple[Ends, Ends]) -> None:
    clock = ManualClock()
    keeper = Keeper(clock)
    os.write(pipes[1][1], b"garbage")
    assert watch(clock, pipes, keeper) == set()
    assert keeper.said == ["told what no process tells"]
