"""The process above one that may do anything: when that has ended, however it did, nothing that it started goes on.

`guarded()` forks. The child does the work; the parent, the guardian, waits for it, ends what it left, and ends as it
did. `apart()` does one piece of work in a child, and the guardian goes on. Processes whose parents have ended become
children of the guardian (Linux, `PR_SET_CHILD_SUBREAPER`): it finds all.
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
"""So long a process may take to end after its lifeline did or it was told to."""
SWEEP_S = 10.0
"""So long what is left is looked for and ended."""
COPY_S = 2.0
"""So long a copy of a process may take to show what it is up to."""
LET_GO_S = 5.0
"""Time that a process may take to end after it has closed its connection, s."""
LOOK_S = 0.1
"""Between two looks at what the process has taken."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Bounds:
    """What a process may take together with all that it has started; beyond it the guardian ends them and says why."""

    last_words: Path
    """Where it is said."""
    output: Path | None = None
    """The file that the process prints to, cut where it grows beyond the bound. Without one it prints to stderr."""
    processes: int = 64
    """Most of them at once."""
    memory_bytes: int = 0
    """Resident memory; 0: three quarters of the machine's."""
    output_bytes: int = 16 * 2**20
    stopped_s: float = 5.0
    """So long it may stand still after SIGSTOP."""


MOST_DESCRIPTORS = 4096
"""Most that a process with bounds may have open."""
KEPT_OUTPUT_BYTES = 64 * 2**10
"""So much stays of an output that was longer than allowed."""


def guarded(
    lifeline: int = 0, patience_s: float = PATIENCE_S, bounds: Bounds | None = None, given: Sequence[int] = ()
) -> None:
    """Returns in a child of the process that called it, which must not have a second thread; never in that process.

    When nobody holds the other end of `lifeline` (a descriptor) any more, the child has `patience_s` to end. With
    `bounds` it is kept within them, and has no descriptor of this process but those `given` to it alone.
    """
    process = _forked(patience_s, bounds, given)
    if process == 0:
        return
    status = 1 << 8  # as `waitpid` has an exit status of 1
    try:
        for descriptor in given:
            os.close(descriptor)
        status = _watch(process, lifeline, patience_s, bounds)
    finally:
        _end_rest(process)
        end_like(status)


def apart(work: Callable[[], None], lifeline: int, bounds: Bounds, given: "Given", hearing: "Hearing") -> "Ended":
    """Do a piece of work in a child process; return how the child ended.

    The calling process must have one thread only.

    The child has no descriptor but that of `given`, whose other end `hearing` reads; here it is closed. It is kept
    within `bounds`, and ends with this process, and when nobody holds the other end of `lifeline` any more. Afterwards
    nothing that it started is left.

    Raises:
        OSError: the process cannot be made, or there can be no file for what it prints.
    """
    process = _forked(0.0, bounds, [given.fileno()])
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # whatever the work has broken: who waits has to hear of it, if only by the end
            with contextlib.suppress(BaseException):
                sys.__excepthook__(*sys.exc_info())
        finally:
            os._exit(status)  # whatever its threads and destructors are about to do
    given.close()
    left: set[int] = set()
    try:
        status = _watch(process, lifeline, 0.0, bounds, hearing)
    finally:
        left |= _end_rest(process)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)  # who was asked to end does so now
    return Ended(status, len(left))


@dataclass(frozen=True)
class Ended:
    """How a child process ended."""

    status: int
    """As `os.waitpid` has it."""
    left: int
    """Number of processes that it had started and left, which were ended."""


class Given(Protocol):
    """An open file or connection."""

    def fileno(self) -> int:
        """Return its descriptor."""
        ...

    def close(self) -> None:
        """Closes it."""
        ...


class Hearing(Protocol):
    """Receives what a watched process sends to its guardian."""

    def fileno(self) -> int:
        """Return the descriptor from which it reads."""
        ...

    def hear(self) -> None:
        """Read what has arrived. The guardian calls it when the descriptor can be read.

        Raises:
            EOFError: the process has closed its end.
            UserError: the process has sent what it may not send; the text says what it did.
        """
        ...


def _forked(patience_s: float, bounds: Bounds | None, given: Sequence[int]) -> int:
    """Forks, as `os.fork` does. The child is killed with this process, or told to end where it has patience."""
    guardian = os.getpid()
    printed = _opened(bounds.output) if bounds and bounds.output else None
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until it is known what to do then
    process = os.fork()
    if process == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if bounds is not None:
            os.setsid()  # what it does to its process group it does to itself
            _close_all_but(given, printed)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM if patience_s else signal.SIGKILL)
        if os.getppid() != guardian:  # it has ended before the request was made
            os._exit(1)
    elif printed is not None:
        os.close(printed)
    return process


def _opened(output: Path) -> int:
    """Opens the file for what a process prints, which is made if it is not there."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC
    try:
        output.parent.mkdir(exist_ok=True)
        return os.open(output, flags | os.O_CREAT, 0o600)
    except FileNotFoundError:  # somebody has removed the results: nobody will read it
        return os.open(os.devnull, flags)


def _close_all_but(given: Iterable[int], printed: int | None) -> None:
    """Leaves this process these descriptors, no input, and a place for what is printed."""
    import resource

    printed = 2 if printed is None else printed
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    for source, target in ((nothing, 0), (printed, 1), (printed, 2)):
        os.dup2(source, target)
    first = 3
    for descriptor in sorted(given):
        os.set_inheritable(descriptor, False)  # another program in the place of this one has nothing
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, MOST_DESCRIPTORS)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_DESCRIPTORS if most == resource.RLIM_INFINITY else min(most, MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _watch(
    process: int, lifeline: int, patience_s: float, bounds: Bounds | None, hearing: Hearing | None = None
) -> int:
    """Waits until the process has ended, and sees to it that it does; its status as `waitpid` has it.

    Signals that ask this process to end are blocked afterwards, and those that came meanwhile are pending.
    """
    with ExitStack() as held:
        asked, asking = os.pipe()
        held.callback(os.close, asked)
        held.callback(os.close, asking)
        os.set_blocking(asking, False)
        held.callback(_raise_again, asked)
        held.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(asking, warn_on_full_buffer=False))
        for number in ENDING:
            held.callback(signal.signal, number, signal.signal(number, lambda _number, _frame: None))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        held.callback(signal.pthread_sigmask, signal.SIG_BLOCK, ENDING)
        ended = os.pidfd_open(process)
        held.callback(os.close, ended)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(asked, select.POLLIN)
        poll.register(lifeline, select.POLLRDHUP)  # what comes over it is the process's: only its end is looked for
        if hearing:
            poll.register(hearing.fileno(), select.POLLIN)
        found = _wait(poll, hearing, _Keeper(process, bounds) if bounds else None, {ended, asked, lifeline})
        if ended not in found:
            if asked in found and patience_s:
                os.kill(process, signal.SIGTERM)
            only = select.poll()
            only.register(ended, select.POLLIN)
            if not found or not only.poll(patience_s * 1000):
                os.kill(process, signal.SIGKILL)
        return os.waitpid(process, 0)[1]


def _raise_again(asked: int) -> None:
    """Raises the signals whose numbers were written to the pipe."""
    os.set_blocking(asked, False)
    with contextlib.suppress(BlockingIOError):
        for number in os.read(asked, 100):
            signal.raise_signal(number)


def _wait(
    poll: select.poll,
    hearing: Hearing | None,
    keeper: "_Keeper | None",
    ends: set[int],
    clock: Clock = SYSTEM_CLOCK,
) -> set[int]:
    """Waits until one of the descriptors `ends` tells that the process ends; none if it has done what it may not."""
    looked, let_go = clock.monotonic(), 0.0
    while True:
        found = {descriptor for descriptor, _ in clock.wait(polling(poll), LOOK_S if keeper else None)}
        if over := found & ends:
            return over
        if hearing and hearing.fileno() in found:
            try:
                hearing.hear()
            except EOFError:
                poll.unregister(hearing.fileno())
                let_go = clock.monotonic()
            except UserError as error:
                if keeper:
                    keeper.say(str(error))
                return set()
        if keeper and clock.monotonic() - looked >= LOOK_S:
            looked = clock.monotonic()
            if keeper.finds_too_much():
                return set()
            if let_go and looked - let_go > LET_GO_S:
                keeper.say("let go of its connection to dumbbell")
                return set()


class _Keeper:
    """Keeps a process and what it has started within bounds."""

    def __init__(self, process: int, bounds: Bounds) -> None:
        self._process = process
        self._bounds = bounds
        self._memory_bytes = bounds.memory_bytes or machine_memory_bytes() * 3 // 4
        self._stopped = 0

    def finds_too_much(self) -> bool:
        """Whether they have taken more than they may, which it says."""
        bounds = self._bounds
        with contextlib.suppress(OSError):
            if bounds.output and bounds.output.stat().st_size > bounds.output_bytes:
                os.truncate(bounds.output, KEPT_OUTPUT_BYTES + 1)  # so that it shows
        below = descendants(os.getpid())
        memory = sum(map(_resident_bytes, below))
        self._stopped = self._stopped + 1 if _state(self._process) == "T" else 0
        if len(below) > bounds.processes:
            return self.say(f"was ended: it has started {len(below)} processes: allowed are {bounds.processes}")
        if memory > self._memory_bytes:
            most = self._memory_bytes / 2**30
            return self.say(f"was ended: it took {memory / 2**30:.1f} GiB of memory: allowed are {most:.1f}")
        if self._stopped * LOOK_S > bounds.stopped_s:
            return self.say(f"was ended: it was stopped (SIGSTOP) and did not go on within {bounds.stopped_s:g} s")
        return False

    def say(self, what: str) -> bool:
        """Append to the file for last words what the process did; return True."""
        with contextlib.suppress(OSError), self._bounds.last_words.open("a", encoding="utf-8") as file:
            file.write(f"its process {what}\n")
        return True


def was_copied(last_words: Path, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Whether a copy of this process, made with `fork`, has gone on with its work and said so in its last words.

    A copy that has just begun is given time to do so; one that sleeps is left to the guardian.
    """
    until = clock.monotonic() + COPY_S
    own = _command(os.getpid())
    while clock.monotonic() < until and any(_command(each) == own for each in descendants(os.getpid())):
        clock.sleep(0.005)
    try:
        return last_words.stat().st_size > 0
    except OSError:
        return False


def _command(process: int) -> bytes:
    """What a process was started as; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def machine_memory_bytes() -> int:
    """The memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES


def descendants(process: int) -> list[int]:
    """All processes below one."""
    try:
        return _below(process)
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        parents = {number: parent for number in _processes() if (parent := _parent(number))}
        found = [process]
        for each in found:
            found += [number for number, parent in parents.items() if parent == each]
        return found[1:]


def _below(process: int) -> list[int]:
    found = [process]
    for each in found:
        try:
            tasks = list(Path(f"/proc/{each}/task").iterdir())
        except OSError:
            continue  # it has ended
        for task in tasks:
            file = task / "children"
            with contextlib.suppress(ProcessLookupError, PermissionError):
                try:
                    found += map(int, file.read_text().split())
                except FileNotFoundError:
                    if file.parent.exists():
                        raise
    return found[1:]


def _processes() -> list[int]:
    return [int(place.name) for place in Path("/proc").iterdir() if place.name.isdecimal()]


def _stat(process: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the third on; none of a process that has ended."""
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
    """Ends all processes below this one, and returns their numbers.

    First are those of a process group, which the kernel ends at one blow.
    """
    ended: set[int] = set()
    until = clock.monotonic() + SWEEP_S
    while _reap() and clock.monotonic() < until:
        found = descendants(os.getpid())
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
        _kill(descendants(os.getpid()))
        ended.update(found)
        clock.sleep(0.002)
    return ended


def _kill(processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


def _reap() -> bool:
    """Takes note of children that have ended; whether there are others."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def end_like(status: int) -> None:
    """Ends this process as another one has ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the other one has left its own
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)
