"""Ctrl-C in the middle of work: after some CPU time of this process, so that the machine's load does not matter."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest


@contextmanager
def interrupt_after(after_cpu_s: float) -> Iterator[None]:
    """Send SIGINT to this process after `after_cpu_s` s of CPU time in the block, and expect it to end the block."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (both are what may be interrupted)
            signal.setitimer(signal.ITIMER_PROF, after_cpu_s)
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
