"""Short questions to programs that may do anything: what they answer, and that nothing of them goes on.

Run as a program, this is the process above the one that is asked.
"""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.guardian import guarded
from dumbbell.base.starting import PYTHON

_MOST_BYTES = 64 * 2**10
"""Most that is read of an answer."""
_CANNOT_START = 127


@dataclass(frozen=True)
class Answer:
    """How a program ended, as `subprocess` has it, and what it wrote: 64 KiB of each at most."""

    status: int
    out: str
    problems: str


def ask(words: Sequence[str | Path], within_s: float) -> Answer | None:
    """Run a program, and return what it answers; `None` if it has not ended in time or writes without end.

    When this returns, and also when this process is killed, all that the program has started is ended.

    Raises:
        OSError: no process can be started.
    """
    lifeline, ours = os.pipe()
    try:
        process = subprocess.Popen(
            [*PYTHON, "-m", __name__, *map(str, words)],
            stdin=lifeline,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the caller
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(lifeline)
    with process:
        try:
            said = _read(process, time.monotonic() + within_s)
        finally:
            os.close(ours)  # what still goes on is ended
    if said is None:
        return None
    out, problems = (text.decode(errors="replace") for text in said)
    return Answer(process.returncode, out, problems)


def _read(process: "subprocess.Popen[bytes]", until: float) -> tuple[bytes, bytes] | None:
    """What it writes until it has ended; `None` if that takes too long or is too much."""
    said = {process.stdout: b"", process.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for stream in said:
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                return None
            for key, _ in ready:
                part = os.read(key.fd, _MOST_BYTES)
                said[key.fileobj] += part  # type: ignore[index]  # one of the two
                if len(said[key.fileobj]) > _MOST_BYTES:  # type: ignore[index]
                    return None
                if not part:
                    selector.unregister(key.fileobj)
    return said[process.stdout], said[process.stderr]


def _main(words: list[str]) -> None:
    guarded(patience_s=0.0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(words[0], words)
    except OSError:
        os._exit(_CANNOT_START)


if __name__ == "__main__":
    _main(sys.argv[1:])
