"""Work that is done on several processes at once, which end with this one: the figures of reports and pages."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Generic, TypeVar

from dumbbell.errors import UserError
from dumbbell.execution.interrupts import Undisturbed, interruptible
from dumbbell.execution.processes import belong_to_parent, die_with_parent, start_process
from dumbbell.progress import Stage

START_S = 1.2
"""Until a process that draws has imported what it needs."""

_WORTH_A_PROCESS_S = 2.0

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Result(Generic[R]):
    number: int
    seconds: float
    value: R | None
    problem: BaseException | None = None


@dataclass
class _Helper:
    process: SpawnProcess
    connection: Connection
    number: int | None = None


def worth(jobs: int, seconds: float) -> int:
    """On how many of `jobs` processes work of so many seconds is done soonest; 1 is this process itself."""
    return jobs if jobs > 1 and seconds > _WORTH_A_PROCESS_S else 1


def spread(work: Callable[[T], R], tasks: Sequence[T], stage: Stage) -> list[R]:
    """What `work` makes of each task, in their order, on as many processes as `stage` says; it is told of each.

    Raises:
        UserError: a process died.
        Exception: what `work` raised first.
    """
    with interruptible():
        if stage.workers < 2:
            return [_alone(work, number, task, stage) for number, task in enumerate(tasks)]
        helpers: list[_Helper] = []
        try:
            for _ in range(stage.workers):
                ours, theirs = Pipe()
                helpers.append(_Helper(start_process(_serve, theirs, work), ours))
                theirs.close()
            return _gather(helpers, tasks, stage)
        finally:
            with Undisturbed():
                for helper in helpers:
                    helper.process.terminate()
                for helper in helpers:
                    helper.process.join()
                    helper.connection.close()


def _alone(work: Callable[[T], R], number: int, task: T, stage: Stage) -> R:
    stage.begin(number)
    started = time.monotonic()
    value = work(task)
    stage.step(number, seconds=time.monotonic() - started)
    return value


def _gather(helpers: list[_Helper], tasks: Sequence[T], stage: Stage) -> list[R]:
    values: dict[int, R] = {}
    rest = iter(enumerate(tasks))

    def hand_out(helper: _Helper) -> None:
        helper.number = None
        for number, task in rest:
            helper.number = number
            stage.begin(number)
            helper.connection.send((number, task))
            return

    try:
        for helper in helpers:
            hand_out(helper)
        while busy := {helper.connection: helper for helper in helpers if helper.number is not None}:
            for connection in wait(list(busy)):
                helper = busy[connection]  # type: ignore[index]  # only connections were given
                result: _Result[R] = helper.connection.recv()
                if result.problem is not None:
                    raise result.problem
                values[result.number] = result.value  # type: ignore[assignment]  # what `work` returned, None or not
                stage.step(result.number, seconds=result.seconds)
                hand_out(helper)
    except (EOFError, ConnectionError):
        raise UserError("a process that draws figures was ended from outside (memory?)") from None
    return [values[number] for number in range(len(tasks))]


def _serve(connection: Connection, work: Callable[[T], R]) -> None:
    """Does the tasks that come, until there are no more or the parent has ended."""
    belong_to_parent()
    die_with_parent()
    while True:
        try:
            number, task = connection.recv()
        except (EOFError, OSError):
            return
        started = time.monotonic()
        try:
            value = work(task)
            connection.send(_Result(number, time.monotonic() - started, value))
        except OSError:
            return
        except Exception as problem:
            connection.send(_Result(number, time.monotonic() - started, None, problem))
