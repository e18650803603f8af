"""Runs made in the process of the test, one after another: in the place of the worker processes of `Pool`.

A worker process costs more than most runs of tests, and so does waiting for the disk, which is left out: nobody pulls
the plug. Tests of both have processes (`dumbbell` in `command.py` says which). Plug-ins always have their own.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from dumbbell.backends import Executor
from dumbbell.base import logs
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.progress import Stage
from dumbbell.execution import pool
from dumbbell.execution.worker import Task, keep, make
from dumbbell.results import environment
from support.commands.forks import own_cpu


class PoolHere:
    """Makes runs as a worker process of `Pool` does."""

    side_by_side = 1

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._obstacle = executor.enter()
        self._clock = clock

    def map(self, tasks: Iterator[Task], stage: Stage) -> Iterator[tuple[int, Any, float | None]]:
        """Executes the tasks; yields number, statistics and seconds of each."""
        for task in tasks:
            stage.begin(task.number)
            started = self._clock.monotonic()
            with _logs_of_the_command():
                attempt = make(task, self._obstacle, partial(stage.say, task.number))
            seconds = self._clock.monotonic() - started
            yield task.number, keep(task, attempt), seconds

    def stop(self) -> None:
        """Has nothing to end."""


_Pool = pool.Pool
_git = cache(environment._git)
"""What git says of this repository: every command asks, and nothing changes while the tests run."""


def _pool(
    executor: Executor, count: int, folder: Path, has_plugins: bool, clock: Clock = SYSTEM_CLOCK
) -> PoolHere | pool.Pool:
    if has_plugins or executor.backend.capabilities.real_packets:
        return _Pool(executor, count, folder, has_plugins, clock)
    return PoolHere(executor, clock)


@contextmanager
def runs_here() -> Iterator[None]:
    """Simulations are made in this process meanwhile, which has one CPU, so that it starts no helpers either."""
    cpus = os.sched_getaffinity(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Pool", _pool)
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(environment, "_git", _git)
        os.sched_setaffinity(0, {own_cpu(cpus)})
        try:
            yield
        finally:
            os.sched_setaffinity(0, cpus)


@contextmanager
def _logs_of_the_command() -> Iterator[None]:
    """A run has taken the logs of its process for itself: afterwards they are those of the command again."""
    package, wanted, was_command = logging.getLogger(logs.PACKAGE), logs.levels(), bool(logs._ours)
    level = package.level
    try:
        yield
    finally:
        package.removeHandler(logs._runs)
        logs._runs._levels = None
        if was_command:
            logs.configure(wanted)
        else:
            package.setLevel(level)
