"""Backends: the ways of making runs. Each is a module of this package with a class `BACKEND`."""

from collections.abc import Callable
from functools import cache

from dumbbell.backends.protocol import Backend, Capabilities, Executor, Note, Wording
from dumbbell.errors import UserError, listed, nearest

__all__ = [
    "Backend",
    "Capabilities",
    "Executor",
    "Note",
    "Wording",
    "choose_jobs",
    "executing",
    "find",
    "forms",
    "full_name",
    "require",
]


@cache
def _known() -> dict[str, Callable[[str], Backend]]:
    """The backends by name."""
    from importlib import import_module
    from pkgutil import iter_modules

    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [module.BACKEND for module in modules if hasattr(module, "BACKEND")]
    return {backend.form.partition(":")[0]: backend for backend in found}


def full_name(backend: Backend) -> str:
    """As it is written in files: the form with its argument."""
    first, colon, _ = backend.form.partition(":")
    return first + colon + backend.argument


def find(text: str) -> Backend:
    """The backend that is written like this.

    Raises:
        UserError: there is none.
    """
    first, _, argument = text.partition(":")
    known = _known()
    if first not in known:
        raise UserError(f"unknown backend `{text}`{nearest(first, known)}: allowed are {listed(forms())}")
    backend = known[first](argument)
    if (":" in backend.form) != bool(argument):
        raise UserError(f"backend `{text}`: allowed is {backend.form}")
    return backend


def forms(wanted: Callable[[Capabilities], bool] = lambda _: True) -> list[str]:
    """The forms of the backends that execute runs and have the `wanted` capabilities."""
    return [backend.form for backend in executing() if wanted(backend.capabilities)]


def executing() -> list[Backend]:
    """The backends that execute runs."""
    return [backend for backend in (create("") for create in _known().values()) if not backend.refusal]


def require(text: str) -> Executor:
    """The backend, which has to be one that executes runs.

    Raises:
        UserError: it is unknown, or not such a one.
    """
    backend = find(text)
    if not isinstance(backend, Executor):
        raise UserError(f"backend `{text}` {backend.refusal}: allowed are {listed(forms())}")
    return backend


def choose_jobs(backend: Backend, wanted: int | None, processors: int) -> int:
    """How many runs go on at once.

    Raises:
        UserError: more than the backend can do.
    """
    most = backend.capabilities.max_jobs
    if most is None:
        return wanted or processors
    if wanted is not None and wanted > most:
        allowed = f"allowed with --backend {full_name(backend)} is {most}"
        raise UserError(f"--jobs {wanted}: {allowed}: runs in real time disturb each other")
    return wanted or most
