"""The logs of active runs as records of this process: `-v` shows them on stderr."""

import contextlib
import logging
import threading
from dataclasses import dataclass
from typing import IO

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.logs import ForeignLog, levels
from dumbbell.execution.worker import Task
from dumbbell.results.series.run_files import LOG

LOOK_S = 0.2
"""Interval of reading the logs, s."""


@dataclass
class _FollowedRun:
    task: Task
    foreign_log: ForeignLog
    file: IO[str] | None = None
    rest: str = ""

    def pass_on(self, is_over: bool) -> None:
        """Make records of the new whole lines; when the run is over, of all lines."""
        if self.file is None:
            # if another machine makes the run, its log comes with the results
            for place in (self.task.log, self.task.final / LOG):
                with contextlib.suppress(OSError):
                    self.file = place.open(encoding="utf-8", errors="replace")
                    break
        if self.file is not None:
            *lines, self.rest = (self.rest + self.file.read()).split("\n")
            if is_over and self.rest:
                lines.append(self.rest)
            for line in lines:
                self.foreign_log.take(line)
            if is_over:
                self.file.close()


class Following:
    """Follower of the logs of runs, active only if levels below warnings are wanted."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._runs: dict[int, _FollowedRun] = {}
        self._changing = threading.Lock()
        self._over = threading.Event()
        self._wants = levels().most_detailed <= logging.INFO
        if self._wants:
            threading.Thread(target=self._look, name="following", daemon=True).start()

    def begin(self, task: Task) -> Task:
        """Follow the log of a task from now on; return the task."""
        if self._wants:
            with self._changing:
                self._runs[task.number] = _FollowedRun(task, ForeignLog(task.label))
        return task

    def end(self, number: int) -> None:
        """Read the rest of the log of a task whose run is durable."""
        with self._changing:
            followed_run = self._runs.pop(number, None)
        if followed_run is not None:
            followed_run.pass_on(is_over=True)

    def close(self) -> None:
        """Stop following logs."""
        self._over.set()

    def _look(self) -> None:
        while not self._clock.wait(self._over.wait, LOOK_S):
            with self._changing:
                for followed_run in self._runs.values():
                    followed_run.pass_on(is_over=False)
