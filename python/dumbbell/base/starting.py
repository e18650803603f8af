"""Ctrl-C while the command starts: one line instead of wherever Python is at that moment.

The package imports this first, and this nothing that takes long: until then Python answers, by a traceback. Once there
is work with something to clean up, `base/interrupts.py` takes over.
"""

import os
import signal
import sys
import time

TYPE_CHECKING = False  # as `typing` has it, which takes a while to import
if TYPE_CHECKING:
    from types import TracebackType

INTERRUPTED = 1
"""The exit status of a command that was interrupted."""
INTERNAL_ERROR = 3
"""The exit status after an internal error. Python would end with 1, by which `check` says that something is worse."""
MISTAKE = "dumbbell: internal error: this is a mistake of dumbbell: please report the lines above"
"""The last line that a command writes after an internal error."""
PYTHON = (sys.executable, "-P")
"""How dumbbell starts a Python: it imports nothing from the working directory, which may be somebody else's results."""


def stop_at_once(_number: int, _frame: object) -> None:
    """Says so and ends; nothing has been begun."""
    os.write(2, b"dumbbell: interrupted\n")
    os._exit(INTERRUPTED)


def end_by_mistake(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
    """Ends after an exception that nobody caught, outside of `main`: in the first lines of a module, for example."""
    if issubclass(kind, KeyboardInterrupt):
        stop_at_once(signal.SIGINT, None)
    sys.__excepthook__(kind, error, trace)
    os.write(2, f"{MISTAKE}\n".encode())
    os._exit(INTERNAL_ERROR)


def stop_once() -> None:
    """Ctrl-C changes nothing from now on, where this program is the command: it has said how it ends, and cleans up."""
    if began_s is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python would otherwise end by the signal in its last moments


def is_command(argv: list[str], original: list[str]) -> bool:
    """Whether this program is the command: `dumbbell`, or `python -m dumbbell`, which has no name of its own yet."""
    if argv[:1] == ["-m"]:
        return "-m" in original and original[original.index("-m") + 1 :][:1] == ["dumbbell"]
    return bool(argv) and os.path.basename(argv[0]) == "dumbbell"  # noqa: PTH119 (pathlib is slow to import)


began_s: float | None = None
"""When the command began, by the monotonic clock; `None` where this program is not the command."""


def watch() -> None:
    """Ends the command at once on Ctrl-C from now on, unless it was started to ignore that."""
    global began_s
    if is_command(sys.argv, sys.orig_argv):
        began_s = time.monotonic()
        sys.excepthook = end_by_mistake
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, stop_at_once)
