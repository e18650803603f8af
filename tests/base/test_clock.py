"""Tests of the clock: the system's, and the tests' one, which replaces all of it."""

import select
import threading

from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from support.clock import ManualClock
from support.waiting import wait_for


def test_the_system_clock_goes_on() -> None:
    began = (SYSTEM_CLOCK.time(), SYSTEM_CLOCK.time_ns(), SYSTEM_CLOCK.monotonic())
    SYSTEM_CLOCK.sleep(0.001)
    assert SYSTEM_CLOCK.monotonic() > began[2]
    assert abs(SYSTEM_CLOCK.time_ns() / 1e9 - SYSTEM_CLOCK.time()) < 3600.0
    assert abs(SYSTEM_CLOCK.utc().timestamp() - began[0]) < 3600.0


def test_a_wait_ends_with_what_it_waits_for() -> None:
    event = threading.Event()
    assert not SYSTEM_CLOCK.wait(event.wait, 0.001)
    threading.Thread(target=event.set).start()
    assert SYSTEM_CLOCK.wait(event.wait, None)


def test_a_wait_for_descriptors_takes_seconds() -> None:
    class Poll:
        question: object = "nothing"

        def poll(self, timeout: object) -> list[tuple[int, int]]:
            self.question = timeout
            return [(1, select.POLLIN)]

    poll = Poll()
    assert SYSTEM_CLOCK.wait(polling(poll), 2.5) == [(1, select.POLLIN)]  # type: ignore[arg-type]
    assert poll.question == 2500.0
    SYSTEM_CLOCK.wait(polling(poll), None)  # type: ignore[arg-type]
    assert poll.question is None


def test_nothing_of_the_clock_of_tests_is_of_the_system() -> None:
    names = {name for name in vars(ManualClock) if not name.startswith("_")}
    assert {name for name in vars(Clock) if not name.startswith("_")} - names == {"utc"}, "a date of `time`"


def test_a_clock_of_a_test_stands_still_until_it_is_turned_or_slept_on(clock: ManualClock) -> None:
    assert clock.utc().isoformat() == "2027-01-15T08:00:00+00:00"
    before = clock.monotonic()
    clock.turn(60.0)
    clock.sleep(1.5)
    assert (clock.monotonic() - before, clock.utc().minute, clock.slept_s) == (61.5, 1, [1.5])


def test_a_wait_on_a_clock_of_a_test_ends_when_another_thread_turns_it(clock: ManualClock) -> None:
    never, answers = threading.Event(), []
    waiting = threading.Thread(target=lambda: answers.append(clock.wait(never.wait, 3600.0)))
    waiting.start()
    clock.until_waiting()
    clock.turn(3599.0)
    clock.until_waiting()
    assert answers == []
    clock.turn(1.0)
    wait_for(lambda: answers == [False])


def test_a_clock_that_turns_in_waits_needs_no_other_thread() -> None:
    clock, event = ManualClock(turns_in_waits=True), threading.Event()
    before = clock.monotonic()
    assert not clock.wait(event.wait, 3600.0)
    assert clock.monotonic() - before == 3600.0
    event.set()
    assert clock.wait(event.wait, 3600.0)
    assert clock.monotonic() - before == 3600.0
