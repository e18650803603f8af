"""Runs made in the process of the test, one after another, as a single run always is.

A worker process costs more time than most runs of tests. Waiting for the disk costs as much and is left out, since no
power is lost. Tests of either have processes (`dumbbell` in `command.py` says which). Plug-ins always have processes of
their own.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

import pytest

from dumbbell.backends import Executor
from dumbbell.execution import pool
from dumbbell.results import environment
from support.commands.forks import own_cpu

_git = cache(environment._git)
"""Git's description of this repository, read once: it does not change while the tests run."""


def _is_made_here(executor: Executor, _: Sequence[object], has_plugins: bool) -> bool:
    return not (has_plugins or executor.backend.capabilities.real_packets)


@contextmanager
def runs_here() -> Iterator[None]:
    """Make simulations in this process, which then has one CPU, so that it starts no helpers either."""
    cpus = os.sched_getaffinity(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_is_made_here", _is_made_here)
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(environment, "_git", _git)
        os.sched_setaffinity(0, {own_cpu(cpus)})
        try:
            yield
        finally:
            os.sched_setaffinity(0, cpus)
