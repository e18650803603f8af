"""Backends: from a resolved experiment to packet logs and statistics."""

from dumbbell.errors import UserError

AVAILABLE = ("sim", "emu")
PLANNED = ("remote:HOST",)


def require(backend: str) -> None:
    """Refuses a backend that cannot run experiments.

    Raises:
        UserError: it is unknown, or not part of this version.
    """
    if backend in AVAILABLE:
        return
    allowed = f"allowed are {', '.join(AVAILABLE)}"
    if backend.partition(":")[0] == "remote":
        raise UserError(f"backend `{backend}` is not available in this version: {allowed}")
    if backend == "import":
        raise UserError("imported results cannot be run again: there is no backend `import`")
    raise UserError(f"unknown backend `{backend}`: {allowed} (planned: {', '.join(PLANNED)})")


def choose_jobs(backend: str, wanted: int | None, processors: int) -> int:
    """How many runs go on at once.

    Raises:
        UserError: more than the backend can do.
    """
    if backend != "emu":
        return wanted or processors
    if wanted is not None and wanted > 1:
        raise UserError(f"--jobs {wanted}: allowed with --backend emu is 1: runs in real time disturb each other")
    return 1
