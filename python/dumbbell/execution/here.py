"""Runs made in this process, for a single run: this is cheaper than starting a process."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.logs import lent_to_runs
from dumbbell.base.progress import Stage
from dumbbell.execution.worker import Task, keep, make

if TYPE_CHECKING:
    from dumbbell.backends import Executor
    from dumbbell.contract.run import RunStatistics


class OwnProcess:
    """Executor of runs in this process, one after the other, like a worker process of `Pool`.

    No run may end this process.
    """

    side_by_side = 1

    def __init__(self, executor: "Executor", clock: Clock = SYSTEM_CLOCK) -> None:
        self._obstacle = executor.enter()
        self._clock = clock

    def map(self, tasks: Iterator[Task], stage: Stage) -> Iterator[tuple[int, "RunStatistics", float | None]]:
        """Execute the tasks; yield number, statistics and seconds of each."""
        for task in tasks:
            stage.begin(task.number)
            started_s = self._clock.monotonic()
            with lent_to_runs():
                attempt = make(task, self._obstacle, partial(stage.say, task.number))
            seconds = self._clock.monotonic() - started_s
            with Uninterrupted() as keeping:
                statistics = keep(task, attempt)
            yield task.number, statistics, seconds
            if keeping.was_interrupted:
                raise KeyboardInterrupt

    def stop(self) -> None:
        """Do nothing: there is no process to end."""
