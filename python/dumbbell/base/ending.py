"""Signals while the core waits for somebody's command: a thread hears them, for the core hears none, and ends it."""

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from dumbbell.base.guardian import descendants
from dumbbell.base.interrupts import ENDING, interrupt
from dumbbell.base.starting import stop_at_once, stop_once

PATIENCE_S = 2.0
"""Time that a command has to end after it was told to; then it is killed."""
_AGAIN_S = 0.05
_POLITE = (signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a command to end. There are two, for an interactive shell ignores SIGTERM."""


@contextmanager
def ended_by_signals(patience_s: float = PATIENCE_S, clock: Clock = SYSTEM_CLOCK) -> Iterator["Asked"]:
    """Signals that ask for an end meanwhile end all processes below this one, and raise `KeyboardInterrupt` at last.

    Ctrl-C on a terminal reaches the command as well: whether that ends is its own matter. Only the main thread may say
    what a signal does. What somebody else does on a signal, or ignores, stays as it is.
    """
    asked = Asked(patience_s, clock)
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    ours = (signal.SIG_DFL, signal.default_int_handler, stop_at_once, interrupt)
    previous = {number: handler for number in ENDING if (handler := signal.getsignal(number)) in ours}
    heard, told = os.pipe()
    os.set_blocking(told, False)
    thread = threading.Thread(target=asked.hear, args=(heard, frozenset(previous)), name="signals", daemon=True)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        for number in previous:
            signal.signal(number, _nothing_yet)
        thread.start()
        yield asked
    except Exception:
        if asked.is_to_end:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if asked.is_to_end:
            stop_once()
        signal.set_wakeup_fd(before)
        os.close(told)
        thread.join()
        os.close(heard)
    if asked.is_to_end:
        raise KeyboardInterrupt


class Asked:
    """The requests to end that came as signals while a command was running."""

    def __init__(self, patience_s: float, clock: Clock) -> None:
        self.is_to_end = False
        """True after a signal that asked this process to end the command."""
        self.is_interrupted = False
        """True after Ctrl-C on the terminal. The terminal sends it to the command, too."""
        self._patience_s = patience_s
        self._clock = clock

    def hear(self, heard: int, numbers: frozenset[int]) -> None:
        """Act on the signals of these numbers, which arrive as bytes, until nobody can write any more."""
        poll = select.poll()
        poll.register(heard, select.POLLIN)
        wait = polling(poll)
        while came := os.read(heard, 64):
            for number in numbers.intersection(came):
                if number == signal.SIGINT and _is_on_terminal():
                    self.is_interrupted = True
                else:
                    self.is_to_end = True
            if self.is_to_end:
                break
        if not came:
            return
        for signal_ in _POLITE:
            _send(signal_)
        if not self._clock.wait(wait, self._patience_s) or os.read(heard, 64):  # asked once more: no patience is left
            while not self._is_over(heard, wait):
                _send(signal.SIGKILL)

    def _is_over(self, heard: int, wait: Callable[[float | None], object]) -> bool:
        """Wait a little; return whether nobody can write any more."""
        return bool(self._clock.wait(wait, _AGAIN_S)) and not os.read(heard, 64)


def _nothing_yet(_number: int, _frame: FrameType | None) -> None:
    """The thread has heard it."""


def _send(number: int) -> None:
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(process, number)


def _is_on_terminal() -> bool:
    """Return whether Ctrl-C on a terminal reaches this process."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
