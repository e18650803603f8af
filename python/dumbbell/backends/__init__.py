"""Backends that execute runs: each is a module with a class `EXECUTOR`, here or in another package."""

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
    """Return the executor for the runs of an experiment with these settings.

    Raises:
        UserError: If the backend is unknown, or executes no runs.
    """
    backend = settings.backend
    backend.require_executing()
    executor: type[Executor] = import_module(backend.executor).EXECUTOR
    return executor.of(backend, settings)


def choose_jobs(backend: Backend, requested_jobs: int | None, processors: int) -> int:
    """Return the number of simultaneous runs.

    Raises:
        UserError: If the backend cannot run so many.
    """
    maximum = backend.capabilities.max_jobs
    if maximum is None:
        return requested_jobs or processors
    if requested_jobs is not None and requested_jobs > maximum:
        limit_text = f"allowed with {argument('backend')} {backend.full_name} is {maximum}"
        raise UserError(f"{limit_text}: runs in real time disturb each other", argument="jobs", value=requested_jobs)
    return requested_jobs or maximum
