"""Processes that are started from anybody's program, and how they end."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from dumbbell.errors import listed


@contextmanager
def apart_from_program() -> Iterator[None]:
    """Processes that are spawned meanwhile do not run the main file of this program once more.

    They need nothing of it, and a script without `if __name__ == "__main__"` would start its work again in each.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def cause_of_death(code: int, last_words: Path, outside: Iterable[str]) -> str:
    """Why a process died that executed a run with these plug-ins."""
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    said = last_words.read_text(encoding="utf-8", errors="replace").splitlines() if last_words.is_file() else []
    if said:
        return " or ".join(said)
    ran = list(outside)
    plugins = f"; it ran {listed(ran)}" if ran else ""
    return f"the process of the run died ({how}){plugins}"
