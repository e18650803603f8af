"""Work spread over several processes, which end with this one: figures of reports, runs of calibrations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.processes import ConnectedProcess, belong_to_parent, die_with_parent, end_connected, start_connected
from dumbbell.base.progress import Stage

START_S = 1.2
"""Time until a drawing process has imported its modules, s."""

_START_TOGETHER = 1.5
"""Factor by which several processes start more slowly together, because they share the CPUs with this process."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Result:
    number: int
    seconds: float
    value: Any
    problem: Exception | None = None


@dataclass
class _Helper(ConnectedProcess):
    number: int | None = None
    """Number of its current task."""


def worth(jobs: int, seconds: float) -> int:
    """Return the number of processes, 1 or `jobs`, that finishes the work soonest; 1 is this process itself."""
    return jobs if jobs > 1 and _START_TOGETHER * START_S + seconds / jobs < seconds else 1


class Helpers:
    """A group of `count` processes that do tasks; 1 means this process itself. All end with the context."""

    def __init__(self, count: int, clock: Clock = SYSTEM_CLOCK) -> None:
        self._count = count
        self._clock = clock
        self._helpers: list[_Helper] = []

    def __enter__(self) -> "Helpers":
        return self

    def __exit__(self, *_: object) -> None:
        with Uninterrupted():
            end_connected(self._helpers)
            self._helpers.clear()

    def map(self, work: Callable[[T], R], tasks: Sequence[T], stage: Stage | None = None) -> list[R]:
        """Return the results of `work` for all tasks, in order; `stage` shows the progress."""
        if self._count < 2:
            return [_alone(work, number, task, stage, self._clock) for number, task in enumerate(tasks)]
        while len(self._helpers) < min(self._count, len(tasks)):
            self._helpers.append(_Helper(*start_connected(_serve)))
        return self._gather(work, tasks, stage)

    def _gather(self, work: Callable[[T], R], tasks: Sequence[T], stage: Stage | None) -> list[R]:
        values: dict[int, R] = {}
        rest = iter(enumerate(tasks))

        def hand_out(helper: _Helper) -> None:
            helper.number = None
            for number, task in rest:
                helper.number = number
                if stage is not None:
                    stage.begin(number)
                helper.connection.send((work, number, task))
                return

        try:
            for helper in self._helpers:
                hand_out(helper)
            while busy := {helper.connection: helper for helper in self._helpers if helper.number is not None}:
                for connection in wait(list(busy)):
                    helper = busy[connection]  # type: ignore[index]  # only connections were given
                    result: _Result = helper.connection.recv()
                    if result.problem is not None:
                        raise result.problem
                    values[result.number] = result.value
                    if stage is not None:
                        stage.step(result.number, seconds=result.seconds)
                    hand_out(helper)
        except (EOFError, ConnectionError):
            raise UserError("a process that helps was ended from outside (memory?)") from None
        return [values[number] for number in range(len(tasks))]


def _alone(work: Callable[[T], R], number: int, task: T, stage: Stage | None, clock: Clock) -> R:
    if stage is None:
        return work(task)
    stage.begin(number)
    started_s = clock.monotonic()
    value = work(task)
    stage.step(number, seconds=clock.monotonic() - started_s)
    return value


def _serve(connection: Connection, clock: Clock = SYSTEM_CLOCK) -> None:
    """Do the received tasks until the connection is closed."""
    belong_to_parent()
    die_with_parent()
    while True:
        try:
            work, number, task = connection.recv()
        except (EOFError, OSError):
            return
        started_s = clock.monotonic()
        try:
            result = _Result(number, 0.0, work(task))
        except Exception as problem:
            result = _Result(number, 0.0, None, problem)
        try:
            connection.send(replace(result, seconds=clock.monotonic() - started_s))
        except OSError:
            return
