"""Backends that execute runs: each is a module with a class `EXECUTOR`, here or in a package of its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from dumbbell.backends.protocol import Executor
from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, argument

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings

__all__ = ["Executor", "choose_jobs", "find_executor"]


def find_executor(settings: Settings) -> Executor:
    """Return what executes the runs of an experiment with these settings.

    Raises:
        UserError: the backend is unknown, or executes no runs.
    """
    backend = settings.backend
    backend.require_executing()
    executor: type[Executor] = import_module(backend.executor).EXECUTOR
    return executor.of(backend, settings)


def choose_jobs(backend: Backend, wanted: int | None, processors: int) -> int:
    """How many runs go on at once.

    Raises:
        UserError: more than the backend can do.
    """
    most = backend.capabilities.max_jobs
    if most is None:
        return wanted or processors
    if wanted is not None and wanted > most:
        allowed = f"allowed with {argument('backend')} {backend.full_name} is {most}"
        raise UserError(f"{allowed}: runs in real time disturb each other", argument="jobs", value=wanted)
    return wanted or most
