"""Handling of Ctrl-C, SIGTERM and SIGHUP during work that needs a clean-up: each of them interrupts the work."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import ClassVar

from dumbbell import core
from dumbbell.base.starting import stop_at_once, stop_once

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
AGAIN_S = 0.02


@contextmanager
def interruptible() -> Iterator[None]:
    """Make the signals that ask for an end raise `KeyboardInterrupt` during the context.

    Outside the main thread nothing changes, since only that thread may set signal handlers. Signals that are ignored,
    or have foreign handlers, keep their behaviour. After an interrupt the command is about to end. Further Ctrl-C are
    ignored then, to let the callers clean up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known_handlers = (signal.SIG_DFL, signal.default_int_handler, stop_at_once)
    previous = {number: handler for number in ENDING if (handler := signal.getsignal(number)) in known_handlers}
    hook = sys.unraisablehook
    is_ending = False
    if previous:
        _Interrupts.came = False
    try:
        sys.unraisablehook = _interrupt_again
        for number in previous:
            signal.signal(number, interrupt)
        yield
    except KeyboardInterrupt:
        is_ending = True
        raise
    except (core.Error, OSError):
        raise
    except Exception:
        if _Interrupts.came:  # the interrupt was swallowed, and the half-done work failed
            is_ending = True
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if is_ending and previous:
            stop_once()
        sys.unraisablehook = hook


class Uninterrupted:
    """Context in which no interrupt is raised, to finish a short clean-up."""

    _now: ClassVar[list["Uninterrupted"]] = []

    def __init__(self) -> None:
        self.was_interrupted = False

    def __enter__(self) -> "Uninterrupted":
        self._now.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._now.remove(self)

    @classmethod
    def interrupt(cls) -> bool:
        """Handle an interrupt; return True if it is only recorded, not raised."""
        for context in cls._now:
            context.was_interrupted = True
        return bool(cls._now)


class _Interrupts:
    """Record of interrupts: whether one was raised since the outermost `interruptible` began."""

    came = False


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`, but not in an `Uninterrupted` context.

    This is the signal handler of `interruptible`.
    """
    if not Uninterrupted.interrupt():
        _Interrupts.came = True
        raise KeyboardInterrupt


def _interrupt_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt a little later if Python could not raise it, for example in a destructor."""
    if unraisable.exc_type is KeyboardInterrupt:
        threading.Timer(AGAIN_S, os.kill, (os.getpid(), signal.SIGINT)).start()  # noqa: TID251 (a signal, not behaviour)
    else:
        sys.__unraisablehook__(unraisable)
