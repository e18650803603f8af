"""The process above an agent: when the agent has ended, however it did, nothing that it started goes on.

`guarded()` forks. The child is the agent; the parent waits for it, ends what it left, and takes its exit status.
"""

import contextlib
import ctypes
import os
import select
import signal

from dumbbell import _core
from dumbbell.execution.interrupts import ENDING

PATIENCE_S = 12.0
"""So long an agent may take to end after its input did or it was told to."""
_PR_SET_PDEATHSIG = 1


def guarded() -> None:
    """Returns in a child of the process that called it, which must not have a second thread; never in that process."""
    guardian = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until it is known what to do then
    agent = os.fork()
    if agent == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guardian:  # it has ended before the request was made
            os._exit(1)
        return
    status = 1
    try:
        status = _watch(agent)
    finally:
        with contextlib.suppress(_core.Error):
            _core.clean_up()
        os._exit(status)


def _watch(agent: int) -> int:
    """Waits until the agent has ended, and sees to it that it does; its exit status."""
    asked, asking = os.pipe()
    os.set_blocking(asking, False)
    signal.set_wakeup_fd(asking, warn_on_full_buffer=False)
    for number in ENDING:
        signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    ended = os.pidfd_open(agent)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(asked, select.POLLIN)
    poll.register(0, select.POLLRDHUP)  # the input is the agent's: only its end is looked for
    found = [descriptor for descriptor, _ in poll.poll()]
    if ended not in found:
        if asked in found:
            os.kill(agent, signal.SIGTERM)
        only = select.poll()
        only.register(ended, select.POLLIN)
        if not only.poll(PATIENCE_S * 1000):
            os.kill(agent, signal.SIGKILL)
    _, waited = os.waitpid(agent, 0)
    return max(0, os.waitstatus_to_exitcode(waited)) if os.WIFEXITED(waited) else 128 + os.WTERMSIG(waited)
