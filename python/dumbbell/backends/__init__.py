"""Backends: from a resolved experiment to packet logs and statistics."""

from dumbbell.errors import UserError

AVAILABLE = ("sim",)
PLANNED = ("emu", "remote:HOST")


def require(backend: str) -> None:
    """Refuses a backend that cannot run experiments.

    Raises:
        UserError: it is unknown, or not part of this version.
    """
    if backend in AVAILABLE:
        return
    if backend == "emu" or backend.partition(":")[0] == "remote":
        raise UserError(f"backend `{backend}` is not available in this version: allowed is sim")
    if backend == "import":
        raise UserError("imported results cannot be run again: there is no backend `import`")
    raise UserError(f"unknown backend `{backend}`: allowed is sim (planned: {', '.join(PLANNED)})")
