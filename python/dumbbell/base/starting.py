"""Ctrl-C during the start of the command: one line instead of a traceback.

The package imports this module first, and it imports nothing slow: until then Python prints a traceback. When work that
needs a clean-up begins, `base/interrupts.py` takes over.
"""

import os
import signal
import sys
import time

TYPE_CHECKING = False  # the import of `typing` is slow
if TYPE_CHECKING:
    from types import TracebackType

INTERRUPTED = 1
"""The exit status of a command that was interrupted."""
INTERNAL_ERROR = 3
"""Exit status after an internal error. Python's own is 1, which means a regression in `check`."""
MISTAKE = "dumbbell: internal error: this is a mistake of dumbbell: please report the lines above"
"""The last line that a command writes after an internal error."""
PYTHON = (sys.executable, "-P")
"""Command of a Python that imports nothing from the working directory, which may contain somebody else's results."""


def stop_at_once(_number: int, _frame: object) -> None:
    """Print one line and end; no work has begun."""
    os.write(2, b"dumbbell: interrupted\n")
    os._exit(INTERRUPTED)


def end_by_mistake(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
    """End after an exception outside of `main`, for example in the first lines of a module."""
    if issubclass(kind, KeyboardInterrupt):
        stop_at_once(signal.SIGINT, None)
    sys.__excepthook__(kind, error, trace)
    os.write(2, f"{MISTAKE}\n".encode())
    os._exit(INTERNAL_ERROR)


def stop_once() -> None:
    """Ignore Ctrl-C from now on, if this program is the command: it has printed its last line and cleans up."""
    if began_s is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # otherwise the signal could still end Python here


def is_command(argv: list[str], original: list[str]) -> bool:
    """Return True if this program is the command: `dumbbell`, or `python -m dumbbell`, whose name is not set yet."""
    if argv[:1] == ["-m"]:
        return "-m" in original and original[original.index("-m") + 1 :][:1] == ["dumbbell"]
    return bool(argv) and os.path.basename(argv[0]) == "dumbbell"  # noqa: PTH119 (pathlib is slow to import)


began_s: float | None = None
"""Start time of the command on the monotonic clock, s; None if this program is not the command."""


def watch() -> None:
    """End the command at once on Ctrl-C from now on, unless it was started with SIGINT ignored."""
    global began_s
    if is_command(sys.argv, sys.orig_argv):
        began_s = time.monotonic()
        sys.excepthook = end_by_mistake
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, stop_at_once)
