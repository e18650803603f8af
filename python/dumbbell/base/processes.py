"""Start and end of helper processes from any program."""

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
from dumbbell.base.interrupts import Uninterrupted


@dataclass
class ConnectedProcess:
    """A process, and the parent's end of the connection with it."""

    process: SpawnProcess
    connection: Connection


def start_connected(
    work: Callable[..., None],
    *arguments: Any,  # noqa: ANN401 (whatever it takes)
) -> tuple[SpawnProcess, Connection]:
    """Start a process that calls `work` with its end of a connection; return the process and the parent's end."""
    parent_end, child_end = Pipe()
    process = _start_process(work, child_end, *arguments)
    child_end.close()
    return process, parent_end


_SAFE_PATH = ("PYTHONSAFEPATH", "for dumbbell's own processes")
"""Variable that removes the working directory from Python's search path for modules, and dumbbell's value of it."""
_MOST_LAST_WORDS = 4096
"""Maximum number of bytes read from the last words of a process."""
ENDS_WITHIN_S = 15.0
"""Time for a process to end with all its descendants, s; then it is killed."""


def end_connected(processes: Sequence[ConnectedProcess]) -> None:
    """End all processes at once."""
    for member in processes:
        member.process.terminate()
    for member in processes:
        member.process.join(ENDS_WITHIN_S)
        member.process.kill()
        member.process.join()
        member.connection.close()


@contextmanager
def apart_from_program() -> Iterator[None]:
    """Let processes that are spawned meanwhile not run the main file of this program again.

    They do not need it, and a script without `if __name__ == "__main__"` would start its work again in each.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _start_process(work: Callable[..., None], *arguments: Any) -> SpawnProcess:  # noqa: ANN401 (whatever it takes)
    """Start a process that calls `work`, whose first step is `belong_to_parent`.

    The process is spawned, not forked, because the caller may have threads. Ctrl-C is for the caller alone. The signal
    is blocked from the start, because blocked signals are inherited. The process is started completely, or ended.
    Nothing is imported from the working directory, which may belong to somebody else.
    """
    process = get_context("spawn").Process(target=work, args=arguments, daemon=True)
    with _apart_from_working_directory():
        resource_tracker.ensure_running()  # this call unblocks signals
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            with apart_from_program(), Uninterrupted() as starting:
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
    """Let processes that are spawned meanwhile import nothing from the working directory.

    Their own children do as usual: `belong_to_parent` removes the variable again.
    """
    name, value = _SAFE_PATH
    if os.environ.get(name):  # the caller has set it already
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def belong_to_parent() -> None:
    """Let only the parent end this process, by SIGTERM or by its own end."""
    name, value = _SAFE_PATH
    if os.environ.get(name) == value:
        del os.environ[name]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def die_with_parent() -> None:
    """End this process when its parent ends; a thread watches for this."""
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def cause_of_death(code: int, last_words: Path | None, outside: Iterable[str], deed: str = "") -> str:
    """Return the reason why a process with these plug-ins died, or was ended because of its `deed`."""
    last_lines: list[str] = []
    if not deed and last_words is not None and last_words.is_file():
        with last_words.open("rb") as file:
            last_lines = file.read(_MOST_LAST_WORDS).decode(errors="replace").splitlines()
    ran = list(outside)
    plugins = f"; it ran {listed(ran)}" if ran else ""
    if last_lines:
        line = " or ".join(dict.fromkeys(map(printable, last_lines)))
        return line if line.startswith("scheme ") else f"{line}{plugins}"
    ending = f"signal {-code}" if code < 0 else f"exit status {code}"
    return f"its process {deed or f'died ({ending})'}{plugins}"
