"""Backends that execute runs: each is a module with a class `EXECUTOR`, here or in a package of its own."""

from importlib import import_module

from dumbbell.backends.protocol import Executor
from dumbbell.base.backend import Backend, executing_backend
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_settings import Settings

__all__ = ["Executor", "choose_jobs", "find_executor"]


def find_executor(settings: Settings) -> Executor:
    """Return what executes the runs of an experiment with these settings.

    Raises:
        UserError: the backend is unknown, or executes no runs.
    """
    backend = executing_backend(settings.backend)
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
        allowed = f"allowed with --backend {backend.full_name} is {most}"
        raise UserError(f"--jobs {wanted}: {allowed}: runs in real time disturb each other")
    return wanted or most
