"""Short questions to untrusted programs. After the answer, all processes of the program have ended.

If run as a program, this module is the process above the program.
"""

import os
import resource
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.guardian import guarded
from dumbbell.base.starting import PYTHON

_MOST_BYTES = 64 * 2**10
"""Default maximum length of an answer, bytes."""
_CANNOT_START = 127


@dataclass(frozen=True)
class Limits:
    """Limits of each process of a program; 0 is no limit.

    Beyond a limit the kernel refuses a request or ends the process.
    """

    memory_bytes: int = 0
    """Maximum size of the address space, bytes."""
    file_bytes: int = 0
    """Maximum size of a file that the program writes, bytes."""

    def word(self) -> str:
        """Return the limits as an argument of a command line."""
        return f"{self.memory_bytes}:{self.file_bytes}"

    @staticmethod
    def apply(word: str) -> None:
        """Set the limits in `word` for this process and its future children."""
        for kind, limit in zip((resource.RLIMIT_AS, resource.RLIMIT_FSIZE), map(int, word.split(":")), strict=True):
            hard = resource.getrlimit(kind)[1]
            if limit and (hard == resource.RLIM_INFINITY or limit < hard):
                resource.setrlimit(kind, (limit, limit))


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Answer:
    """The exit status of a program (as `subprocess` counts it), and its output and error output."""

    status: int
    out: str
    problems: str


def ask(
    words: Sequence[str | Path],
    within_s: float,
    most_bytes: int = _MOST_BYTES,
    environment: Mapping[str, str] | None = None,
    limits: Limits = NO_LIMITS,
    clock: Clock = SYSTEM_CLOCK,
) -> Answer | None:
    """Run a program and return its answer; None if it runs too long or writes more than `most_bytes`.

    The program has no input, and this process's environment by default. Its processes are kept within `limits`.
    All its processes are ended when this function returns, and also if this process is killed.

    Raises:
        OSError: If no process can be started.
    """
    lifeline, own_end = os.pipe()
    try:
        process = subprocess.Popen(
            [*PYTHON, "-m", __name__, limits.word(), *map(str, words)],
            stdin=lifeline,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the caller
        )
    except BaseException:
        os.close(own_end)
        raise
    finally:
        os.close(lifeline)
    with process:
        try:
            texts = _read([process.stdout, process.stderr], within_s, most_bytes, clock)
        finally:
            os.close(own_end)  # this ends the remaining processes
    return Answer(process.returncode, *texts) if texts else None


def _read(pipes: "Sequence[IO[bytes] | None]", within_s: float, most_bytes: int, clock: Clock) -> list[str] | None:
    """Return the texts that arrive from the pipes until they are closed.

    None if a pipe is not closed within `within_s`, or has more than `most_bytes`.
    """
    until = clock.monotonic() + within_s
    contents = {pipe.fileno(): b"" for pipe in pipes if pipe}
    with selectors.DefaultSelector() as selector:
        for descriptor in contents:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = clock.wait(selector.select, max(0.0, until - clock.monotonic()))
            if not ready:
                return None
            for key, _ in ready:
                part = os.read(key.fd, most_bytes)
                contents[key.fd] += part
                if len(contents[key.fd]) > most_bytes:
                    return None
                if not part:
                    selector.unregister(key.fd)
    return [text.decode(errors="replace") for text in contents.values()]


def _main(words: list[str]) -> None:
    guarded(patience_s=0.0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    limits, *words = words
    Limits.apply(limits)
    try:
        os.execv(words[0], words)
    except OSError:
        os._exit(_CANNOT_START)


if __name__ == "__main__":
    _main(sys.argv[1:])
