"""The logs of runs while these are made, as records of this process: `-v` shows them on stderr."""

import contextlib
import logging
import threading
from dataclasses import dataclass
from typing import IO

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.logs import Others, levels
from dumbbell.execution.worker import Task
from dumbbell.results.series.run_files import LOG

LOOK_S = 0.2
"""Time between two looks at the logs, s."""


@dataclass
class _Followed:
    task: Task
    others: Others
    file: IO[str] | None = None
    rest: str = ""

    def pass_on(self, is_over: bool) -> None:
        """Make records of what is new: of whole lines, until the run is over."""
        if self.file is None:
            # where another machine makes it, the log comes with the results
            for place in (self.task.log, self.task.final / LOG):
                with contextlib.suppress(OSError):
                    self.file = place.open(encoding="utf-8", errors="replace")
                    break
        if self.file is not None:
            *lines, self.rest = (self.rest + self.file.read()).split("\n")
            if is_over and self.rest:
                lines.append(self.rest)
            for line in lines:
                self.others.take(line)
            if is_over:
                self.file.close()


class Following:
    """Follows the logs of runs, if anything but warnings is wanted of them."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._runs: dict[int, _Followed] = {}
        self._changing = threading.Lock()
        self._over = threading.Event()
        self._wants = levels().most <= logging.INFO
        if self._wants:
            threading.Thread(target=self._look, name="following", daemon=True).start()

    def begin(self, task: Task) -> Task:
        """Follow the log of a task, which is returned, from now on."""
        if self._wants:
            with self._changing:
                self._runs[task.number] = _Followed(task, Others(task.label))
        return task

    def end(self, number: int) -> None:
        """Say the rest of the log of a task, whose run is durable."""
        with self._changing:
            followed = self._runs.pop(number, None)
        if followed is not None:
            followed.pass_on(is_over=True)

    def close(self) -> None:
        """Follow nothing any more."""
        self._over.set()

    def _look(self) -> None:
        while not self._clock.wait(self._over.wait, LOOK_S):
            with self._changing:
                for followed in self._runs.values():
                    followed.pass_on(is_over=False)
