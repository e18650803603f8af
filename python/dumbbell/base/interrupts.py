"""Ctrl-C, SIGTERM and SIGHUP while there is work that has something to clean up: all of them interrupt it."""

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
    """The signals that ask for an end raise `KeyboardInterrupt`. Only the main thread may say what a signal does.

    What somebody else does on a signal, or ignores, stays as it is. When the command leaves this block interrupted, it
    is about to end: another Ctrl-C changes nothing, so that what stands around this block is cleaned up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = (signal.SIG_DFL, signal.default_int_handler, stop_at_once)
    previous = {number: handler for number in ENDING if (handler := signal.getsignal(number)) in ours}
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
        if _Interrupts.came:  # something swallowed it, and then failed because its work was half done
            is_ending = True
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if is_ending and previous:
            stop_once()
        sys.unraisablehook = hook


class Undisturbed:
    """A time in which nothing is interrupted: what was begun is cleaned up first, which is quick."""

    _now: ClassVar[list["Undisturbed"]] = []

    def __init__(self) -> None:
        self.was_interrupted = False

    def __enter__(self) -> "Undisturbed":
        self._now.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._now.remove(self)

    @classmethod
    def interrupt(cls) -> bool:
        """An interrupt has come: whether it is only noted."""
        for each in cls._now:
            each.was_interrupted = True
        return bool(cls._now)


class _Interrupts:
    """Remember whether an interrupt was raised since the outermost `interruptible` began."""

    came = False


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`, but where nothing may be disturbed: what a signal does in an `interruptible` block."""
    if not Undisturbed.interrupt():
        _Interrupts.came = True
        raise KeyboardInterrupt


def _interrupt_again(lost: "sys.UnraisableHookArgs") -> None:
    """An interrupt that came while Python could not raise it, in a destructor say, comes once more a little later."""
    if lost.exc_type is KeyboardInterrupt:
        threading.Timer(AGAIN_S, os.kill, (os.getpid(), signal.SIGINT)).start()  # noqa: TID251 (a signal, not behaviour)
    else:
        sys.__unraisablehook__(lost)
