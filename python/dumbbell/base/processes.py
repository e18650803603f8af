"""Processes that are started from anybody's program, and how they end."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from dumbbell.base.errors import listed, printable
from dumbbell.base.interrupts import Undisturbed


@dataclass
class Connected:
    """A process, and our end of the connection with it."""

    process: SpawnProcess
    connection: Connection


def start_connected(
    work: Callable[..., None],
    *arguments: Any,  # noqa: ANN401 (whatever it takes)
) -> tuple[SpawnProcess, Connection]:
    """Starts a process that does the `work`, whose first argument is its end of the connection; ours is returned."""
    ours, theirs = Pipe()
    process = _start_process(work, theirs, *arguments)
    theirs.close()
    return process, ours


_SAFE_PATH = ("PYTHONSAFEPATH", "for dumbbell's own processes")
"""The variable that keeps the working directory out of where a Python looks for modules, and our value of it."""
_MOST_LAST_WORDS = 4096
"""Bytes that are read of what a process said as it ended."""
ENDS_WITHIN_S = 15.0
"""So long a process may take to end with all that it has started; then it is killed."""


def end_connected(processes: Sequence[Connected]) -> None:
    """Ends processes, at once."""
    for each in processes:
        each.process.terminate()
    for each in processes:
        each.process.join(ENDS_WITHIN_S)
        each.process.kill()
        each.process.join()
        each.connection.close()


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


def _start_process(work: Callable[..., None], *arguments: Any) -> SpawnProcess:  # noqa: ANN401 (whatever it takes)
    """Starts a process that does the `work`, whose first step is `belong_to_parent`.

    It is spawned, not forked: the caller may have threads. Ctrl-C is for the caller alone, also before the process can
    say so itself: blocked signals are inherited. It is started as a whole, or ended. The working directory may be
    somebody else's: nothing that lies there is imported.
    """
    process = get_context("spawn").Process(target=work, args=arguments, daemon=True)
    with _apart_from_working_directory():
        resource_tracker.ensure_running()  # it unblocks signals itself
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            with apart_from_program(), Undisturbed() as starting:
                process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if starting.was_interrupted:
        process.terminate()
        process.join()
        raise KeyboardInterrupt
    return process


@contextmanager
def _apart_from_working_directory() -> Iterator[None]:
    """Processes that are spawned meanwhile import nothing from the working directory.

    What they start themselves does as it always does: `belong_to_parent` takes the variable away again.
    """
    name, value = _SAFE_PATH
    if os.environ.get(name):  # it is the caller's wish anyway
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def belong_to_parent() -> None:
    """Makes this process one that only its parent ends: by SIGTERM, or by its own end, whatever that is."""
    name, value = _SAFE_PATH
    if os.environ.get(name) == value:
        del os.environ[name]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def die_with_parent() -> None:
    """Ends this process when its parent ends; a thread sees to it."""
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cause_of_death(code: int, last_words: Path | None, outside: Iterable[str], what: str = "") -> str:
    """Why a process died, or was ended because it did `what`, that executed a run with these plug-ins."""
    said: list[str] = []
    if not what and last_words is not None and last_words.is_file():
        with last_words.open("rb") as file:
            said = file.read(_MOST_LAST_WORDS).decode(errors="replace").splitlines()
    ran = list(outside)
    plugins = f"; it ran {listed(ran)}" if ran else ""
    if said:
        line = " or ".join(dict.fromkeys(map(printable, said)))
        return line if line.startswith("scheme ") else f"{line}{plugins}"
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    return f"its process {what or f'died ({how})'}{plugins}"
