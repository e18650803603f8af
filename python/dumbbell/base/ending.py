"""Signals while the core waits for a command to end. The core ignores them, so a thread ends the command."""

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
"""Time that a command has to end after the first signal, s. Then it is killed."""
_AGAIN_S = 0.05
_POLITE = (signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a command to end. There are two because an interactive shell ignores SIGTERM."""


@contextmanager
def ended_by_signals(patience_s: float = PATIENCE_S, clock: Clock = SYSTEM_CLOCK) -> Iterator["EndRequests"]:
    """Make signals that ask for an end stop all processes below this one, then raise `KeyboardInterrupt`.

    Ctrl-C on a terminal reaches the command itself, which may end or not. Outside the main thread nothing is changed,
    since only that thread may set signal handlers. Signals that are ignored, or have foreign handlers, keep their
    behaviour.
    """
    requests = EndRequests(patience_s, clock)
    if threading.current_thread() is not threading.main_thread():
        yield requests
        return
    known_handlers = (signal.SIG_DFL, signal.default_int_handler, stop_at_once, interrupt)
    previous = {number: handler for number in ENDING if (handler := signal.getsignal(number)) in known_handlers}
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    thread = threading.Thread(target=requests.hear, args=(read_end, frozenset(previous)), name="signals", daemon=True)
    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    try:
        for number in previous:
            signal.signal(number, _nothing_yet)
        thread.start()
        yield requests
    except Exception:
        if requests.is_to_end:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        if requests.is_to_end:
            stop_once()
        signal.set_wakeup_fd(before)
        os.close(write_end)
        thread.join()
        os.close(read_end)
    if requests.is_to_end:
        raise KeyboardInterrupt


class EndRequests:
    """Requests to end that arrived as signals while a command was running."""

    def __init__(self, patience_s: float, clock: Clock) -> None:
        self.is_to_end = False
        """True if a signal asked this process to end the command."""
        self.is_interrupted = False
        """True if the user pressed Ctrl-C on the terminal. The terminal sends the signal to the command, too."""
        self._patience_s = patience_s
        self._clock = clock

    def hear(self, descriptor: int, numbers: frozenset[int]) -> None:
        """Act on the signals in `numbers` until the writing end of the pipe is closed. Signals arrive as bytes."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        wait = polling(poll)
        while signals := os.read(descriptor, 64):
            for number in numbers.intersection(signals):
                if number == signal.SIGINT and _is_on_terminal():
                    self.is_interrupted = True
                else:
                    self.is_to_end = True
            if self.is_to_end:
                break
        if not signals:
            return
        for signal_ in _POLITE:
            _send(signal_)
        if not self._clock.wait(wait, self._patience_s) or os.read(descriptor, 64):  # second request: kill at once
            while not self._is_over(descriptor, wait):
                _send(signal.SIGKILL)

    def _is_over(self, descriptor: int, wait: Callable[[float | None], object]) -> bool:
        """Wait for a moment; return True if the writing end of the pipe is closed."""
        return bool(self._clock.wait(wait, _AGAIN_S)) and not os.read(descriptor, 64)


def _nothing_yet(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the thread receives the signal through the wake-up descriptor."""


def _send(number: int) -> None:
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(process, number)


def _is_on_terminal() -> bool:
    """Return True if Ctrl-C on a terminal reaches this process."""
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
