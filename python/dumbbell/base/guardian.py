"""The guardian: a process above one that runs foreign code. It ends all processes that this one leaves.

`guarded()` forks. The child does the work; the parent is the guardian. It waits for the child, ends the remaining
processes, and exits with the child's status. `apart()` does one piece of work in a child, and the guardian goes on.
Processes whose parents have ended become children of the guardian (Linux, `PR_SET_CHILD_SUBREAPER`), so it finds all.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from dumbbell.base.errors import UserError
from dumbbell.base.interrupts import ENDING

PATIENCE_S = 12.0
"""Time for a process to end after its lifeline closed or a signal asked for its end, s."""
SWEEP_S = 10.0
"""Time limit for finding and ending the remaining processes, s."""
COPY_S = 2.0
"""Time for a copy of a process to show its purpose, s."""
LET_GO_S = 5.0
"""Time that a process may take to end after it has closed its connection, s."""
LOOK_S = 0.1
"""Interval between two checks of a process's resources, s."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Bounds:
    """Resource limits of a process with all its descendants.

    Beyond a limit the guardian ends them and writes the reason.
    """

    last_words: Path
    """File for the reason."""
    output: Path | None = None
    """File for the output of the process, truncated if it exceeds the limit. Without a file the output goes to
    stderr."""
    processes: int = 64
    """Maximum number of simultaneous processes."""
    memory_bytes: int = 0
    """Maximum resident memory, bytes; 0: three quarters of the machine's memory."""
    output_bytes: int = 16 * 2**20
    stopped_s: float = 5.0
    """Maximum duration of a stop by SIGSTOP, s."""


MOST_DESCRIPTORS = 4096
"""Maximum number of open descriptors of a process with bounds."""
KEPT_OUTPUT_BYTES = 64 * 2**10
"""Size to which an output above its limit is truncated, bytes."""


def guarded(
    lifeline: int = 0, patience_s: float = PATIENCE_S, bounds: Bounds | None = None, inherited: Sequence[int] = ()
) -> None:
    """Fork the calling process, which must have one thread only. Only the child returns; the parent guards it.

    When the other end of the descriptor `lifeline` is closed, the child has `patience_s` to end. With
    `bounds` the child is kept within them, and inherits only the descriptors `inherited`, which the parent closes.
    """
    process = _forked(patience_s, bounds, inherited)
    if process == 0:
        return
    status = 1 << 8  # as `waitpid` has an exit status of 1
    try:
        for descriptor in inherited:
            os.close(descriptor)
        status = _watch(process, lifeline, patience_s, bounds)
    finally:
        _end_rest(process)
        end_like(status)


def apart(
    work: Callable[[], None], lifeline: int, bounds: Bounds, channel: "OpenFile", hearing: "Hearing"
) -> "ChildEnd":
    """Do a piece of work in a child process; return how the child ended.

    The calling process must have one thread only.

    The child inherits only the descriptor of `channel`, which the parent closes. `hearing` reads its other end. The
    child is kept within `bounds`. It ends with this process, and when the other end of `lifeline` is closed. When this
    function returns, all processes that the child started have ended.

    Raises:
        OSError: If the process or the file for its output cannot be created.
    """
    process = _forked(0.0, bounds, [channel.fileno()])
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # the guardian has to learn of any failure
            with contextlib.suppress(BaseException):
                sys.__excepthook__(*sys.exc_info())
        finally:
            os._exit(status)  # no thread or destructor may delay the end
    channel.close()
    left: set[int] = set()
    try:
        status = _watch(process, lifeline, 0.0, bounds, hearing)
    finally:
        left |= _end_rest(process)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)  # pending requests to end take effect here
    return ChildEnd(status, len(left))


@dataclass(frozen=True)
class ChildEnd:
    """The end of a child process."""

    status: int
    """Exit status, as `os.waitpid` returns it."""
    left: int
    """Number of processes that the child had started and left. The guardian ended them."""


class OpenFile(Protocol):
    """An open file or connection."""

    def fileno(self) -> int:
        """Return the descriptor of the file or connection."""
        ...

    def close(self) -> None:
        """Close the file or connection."""
        ...


class Hearing(Protocol):
    """Receiver of the messages of a watched process to its guardian."""

    def fileno(self) -> int:
        """Return the descriptor from which `hear` reads."""
        ...

    def hear(self) -> None:
        """Read the received data. The guardian calls this method when the descriptor is readable.

        Raises:
            EOFError: If the process has closed its end of the connection.
            UserError: If the process has sent an invalid message; the text describes it.
        """
        ...


def _forked(patience_s: float, bounds: Bounds | None, descriptors: Sequence[int]) -> int:
    """Fork, as `os.fork` does. If this process ends, the child is killed, or asked to end if `patience_s` is not 0."""
    guardian = os.getpid()
    output = _opened(bounds.output) if bounds and bounds.output else None
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until handlers are set
    process = os.fork()
    if process == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if bounds is not None:
            os.setsid()  # signals to its process group then reach only itself
            _close_all_but(descriptors, output)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM if patience_s else signal.SIGKILL)
        if os.getppid() != guardian:  # the parent ended before the call of prctl
            os._exit(1)
    elif output is not None:
        os.close(output)
    return process


def _opened(output: Path) -> int:
    """Open the file for the output of a process; create it if it does not exist."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    try:
        output.parent.mkdir(exist_ok=True)
        return os.open(output, flags | os.O_CREAT, 0o600)
    except FileNotFoundError:  # the results were removed: the output has no reader
        return os.open(os.devnull, flags)


def _close_all_but(descriptors: Iterable[int], output: int | None) -> None:
    """Close all descriptors but `descriptors`, and connect stdin to /dev/null, stdout and stderr to `output`."""
    import resource

    output = 2 if output is None else output
    null_input = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    for source, target in ((null_input, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    first = 3
    for descriptor in sorted(descriptors):
        os.set_inheritable(descriptor, False)  # closed on exec
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, MOST_DESCRIPTORS)
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MOST_DESCRIPTORS if limit == resource.RLIM_INFINITY else min(limit, MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def _watch(
    process: int, lifeline: int, patience_s: float, bounds: Bounds | None, hearing: Hearing | None = None
) -> int:
    """Wait until the process has ended, and make sure that it ends; return its status as `waitpid` has it.

    Afterwards the signals that ask this process to end are blocked. Such signals that came meanwhile are pending.
    """
    with ExitStack() as stack:
        signals_in, signals_out = os.pipe()
        stack.callback(os.close, signals_in)
        stack.callback(os.close, signals_out)
        os.set_blocking(signals_out, False)
        stack.callback(_raise_again, signals_in)
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(signals_out, warn_on_full_buffer=False))
        for number in ENDING:
            stack.callback(signal.signal, number, signal.signal(number, lambda _number, _frame: None))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        stack.callback(signal.pthread_sigmask, signal.SIG_BLOCK, ENDING)
        process_end = os.pidfd_open(process)
        stack.callback(os.close, process_end)
        poll = select.poll()
        poll.register(process_end, select.POLLIN)
        poll.register(signals_in, select.POLLIN)
        poll.register(lifeline, select.POLLRDHUP)  # data on it is for the process; only its close counts
        if hearing:
            poll.register(hearing.fileno(), select.POLLIN)
        ready = _wait(poll, hearing, _Keeper(process, bounds) if bounds else None, {process_end, signals_in, lifeline})
        if process_end not in ready:
            if signals_in in ready and patience_s:
                os.kill(process, signal.SIGTERM)
            only = select.poll()
            only.register(process_end, select.POLLIN)
            if not ready or not only.poll(patience_s * 1000):
                os.kill(process, signal.SIGKILL)
        return os.waitpid(process, 0)[1]


def _raise_again(signals_in: int) -> None:
    """Raise the signals whose numbers were written to the pipe."""
    os.set_blocking(signals_in, False)
    with contextlib.suppress(BlockingIOError):
        for number in os.read(signals_in, 100):
            signal.raise_signal(number)


def _wait(
    poll: select.poll,
    hearing: Hearing | None,
    keeper: "_Keeper | None",
    ends: set[int],
    clock: Clock = SYSTEM_CLOCK,
) -> set[int]:
    """Wait until one of the descriptors `ends` is ready; return the ready ones, or none if the process broke a rule."""
    last_check_s, let_go = clock.monotonic(), 0.0
    while True:
        ready = {descriptor for descriptor, _ in clock.wait(polling(poll), LOOK_S if keeper else None)}
        if over := ready & ends:
            return over
        if hearing and hearing.fileno() in ready:
            try:
                hearing.hear()
            except EOFError:
                poll.unregister(hearing.fileno())
                let_go = clock.monotonic()
            except UserError as error:
                if keeper:
                    keeper.say(str(error))
                return set()
        if keeper and clock.monotonic() - last_check_s >= LOOK_S:
            last_check_s = clock.monotonic()
            if keeper.finds_too_much():
                return set()
            if let_go and last_check_s - let_go > LET_GO_S:
                keeper.say("let go of its connection to dumbbell")
                return set()


class _Keeper:
    """Monitor that keeps a process and its descendants within bounds."""

    def __init__(self, process: int, bounds: Bounds) -> None:
        self._process = process
        self._bounds = bounds
        self._memory_bytes = bounds.memory_bytes or machine_memory_bytes() * 3 // 4
        self._stopped = 0

    def finds_too_much(self) -> bool:
        """Return True if the processes exceed a bound. The reason is then in the file for last words."""
        bounds = self._bounds
        with contextlib.suppress(OSError):
            if bounds.output and bounds.output.stat().st_size > bounds.output_bytes:
                os.truncate(bounds.output, KEPT_OUTPUT_BYTES + 1)  # one byte above the limit shows the truncation
        below = descendants(os.getpid())
        memory = sum(map(_resident_bytes, below))
        self._stopped = self._stopped + 1 if _state(self._process) == "T" else 0
        if len(below) > bounds.processes:
            return self.say(f"was ended: it has started {len(below)} processes: allowed are {bounds.processes}")
        if memory > self._memory_bytes:
            limit_gib = self._memory_bytes / 2**30
            return self.say(f"was ended: it took {memory / 2**30:.1f} GiB of memory: allowed are {limit_gib:.1f}")
        if self._stopped * LOOK_S > bounds.stopped_s:
            return self.say(f"was ended: it was stopped (SIGSTOP) and did not go on within {bounds.stopped_s:g} s")
        return False

    def say(self, deed: str) -> bool:
        """Append `its process DEED` to the file for last words; return True."""
        with contextlib.suppress(OSError), self._bounds.last_words.open("a", encoding="utf-8") as file:
            file.write(f"its process {deed}\n")
        return True


def was_copied(last_words: Path, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Return True if a copy of this process, made with `fork`, has continued its work and written last words.

    A new copy gets a short time for this. The guardian ends a copy that sleeps.
    """
    until = clock.monotonic() + COPY_S
    own_command = _command(os.getpid())
    while clock.monotonic() < until and any(_command(process) == own_command for process in descendants(os.getpid())):
        clock.sleep(0.005)
    try:
        return last_words.stat().st_size > 0
    except OSError:
        return False


def _command(process: int) -> bytes:
    """Return the command line of a process; empty if the process has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def machine_memory_bytes() -> int:
    """Return the size of the machine's memory, bytes."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES


def descendants(process: int) -> list[int]:
    """Return the numbers of all descendants of a process."""
    try:
        return _below(process)
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        parents = {number: parent for number in _processes() if (parent := _parent(number))}
        family = [process]
        for ancestor in family:
            family += [number for number, parent in parents.items() if parent == ancestor]
        return family[1:]


def _below(process: int) -> list[int]:
    family = [process]
    for member in family:
        try:
            tasks = list(Path(f"/proc/{member}/task").iterdir())
        except OSError:
            continue  # the process has ended
        for task in tasks:
            file = task / "children"
            with contextlib.suppress(ProcessLookupError, PermissionError):
                try:
                    family += map(int, file.read_text().split())
                except FileNotFoundError:
                    if file.parent.exists():
                        raise
    return family[1:]


def _processes() -> list[int]:
    return [int(place.name) for place in Path("/proc").iterdir() if place.name.isdecimal()]


def _stat(process: int) -> list[str]:
    """Return the fields of `/proc/PID/stat` from the third on; empty if the process has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _state(process: int) -> str:
    return next(iter(_stat(process)), "")


def _parent(process: int) -> int:
    return int(next(iter(_stat(process)[1:2]), 0))


def _resident_bytes(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _end_rest(group: int, clock: Clock = SYSTEM_CLOCK) -> set[int]:
    """End all processes below this one, and return their numbers.

    The first are those of process group `group`, which the kernel ends in one step.
    """
    ended_processes: set[int] = set()
    until = clock.monotonic() + SWEEP_S
    while _reap() and clock.monotonic() < until:
        remaining = descendants(os.getpid())
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        _kill(descendants(os.getpid()))
        ended_processes.update(remaining)
        clock.sleep(0.002)
    return ended_processes


def _kill(processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


def _reap() -> bool:
    """Reap the children that have ended; return True if other children exist."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def end_like(status: int) -> None:
    """End this process with the exit status or signal of another process."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the other process has left its own core file
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)
