"""The process that executes runs, one after the other, each in a temporary directory that is then renamed."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import faulthandler
import gc
import json
import os
import platform
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import Pipe, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock, now
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.guardian import KEPT_OUTPUT_BYTES, Bounds, ChildEnd, apart, end_like, was_copied
from dumbbell.base.inbox import GarbledMessage, Inbox, send
from dumbbell.base.json_text import to_json
from dumbbell.base.logs import RUNS, Levels, RunLog, append, line_of, logger
from dumbbell.base.processes import belong_to_parent, die_with_parent
from dumbbell.base.version import __version__
from dumbbell.catalog.trace_files import without_times
from dumbbell.core.runs import simulate
from dumbbell.results.files import publish, publish_all
from dumbbell.results.integrity import recorded
from dumbbell.results.series.run_files import LOG, sampled_quantities
from dumbbell.results.statistics import prepare, require_statistics, unsuccessful

if TYPE_CHECKING:
    from dumbbell.backends import Executor
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.specification import RunSpec

log = logger(__name__)

PUBLISHING = 32
"""Maximum number of runs of one process that wait to become durable."""
BEAT_S = 5.0
"""Interval of beats of a process that executes plug-ins, s."""


@dataclass(frozen=True)
class Task:
    """A run to execute. `outside` describes its plug-ins."""

    number: int
    label: str
    executor: Executor
    identity: dict[str, str | int]
    specification: RunSpec
    outside: tuple[str, ...]
    out: Path
    """Results directory, which contains `temporary` and `final`."""
    temporary: Path
    final: Path
    levels: Levels = RUNS
    """Levels of the records in the run's log."""
    maker: str = ""
    """Address of the cluster's worker that makes the run; else empty."""
    keeps_files: bool = True
    """False if the run has no directories, `temporary` and `final`: then only its statistics are kept."""

    @cached_property
    def unfinished(self) -> Entry:
        """Folder `temporary`, where the run is made, reached without following links."""
        return Entry.at(self.out, self.temporary)

    @cached_property
    def place(self) -> Entry:
        """Folder `final`, where the run is stored, reached without following links."""
        return Entry.at(self.out, self.final)

    @cached_property
    def log(self) -> Path:
        """Log of the run until it is durable. It is outside of the run's directory, which a failure removes."""
        return Path(f"{self.temporary}.log")


@dataclass(frozen=True)
class RunMade:
    """Message: the run of a task is made, in `seconds` seconds, but not durable yet."""

    number: int
    seconds: float


@dataclass(frozen=True)
class RunEvent:
    """Message: an event of the active run; `stands_still` is True if the run waits for others."""

    number: int
    text: str
    stands_still: bool


@dataclass(frozen=True)
class TaskOutcome:
    """Message: the outcome of a task; `statistics` is the content of its `stats.json`."""

    number: int
    statistics: RunStatistics


@dataclass
class Attempt:
    """A run that was made, or the reason of its failure. Its files are in the task's temporary directory."""

    statistics: RunStatistics
    is_failure: bool = False


@dataclass(frozen=True)
class Beat:
    """Message: the process is alive."""


Message = RunMade | RunEvent | TaskOutcome | Attempt | Beat
_KINDS = {kind.__name__: kind for kind in (RunMade, RunEvent, TaskOutcome, Attempt, Beat)}
_TYPES = {
    "number": int,
    "seconds": float,
    "text": str,
    "stands_still": bool,
    "statistics": dict,
    "is_failure": bool,
}


def read_message(message: dict[str, Any]) -> Message:  # of any types until they are checked
    """Return a message of a process.

    Raises:
        GarbledMessage: A process sent bytes that are not a message.
    """
    try:
        typed_message = _KINDS[str(message.pop("kind", ""))](**message)
        if all(isinstance(value, _TYPES[name]) for name, value in vars(typed_message).items()):
            return typed_message
    except (KeyError, TypeError):
        pass
    raise GarbledMessage("told what no process of a run tells")


@dataclass(frozen=True)
class Post:
    """Data for a process that executes runs: its token for messages, and its bounds.

    Without `bounds` the process executes only dumbbell's own code.
    """

    executor: Executor
    token: bytes
    bounds: Bounds | None


def serve(connection: Connection, post: Post) -> None:
    """Execute tasks from the connection until it closes. Only the parent stops the process, so it ignores Ctrl-C.

    A plug-in that ends the process leaves a line in the file for last words.

    Waiting for the disk takes longer than a short run. So a thread makes runs durable while the next one is made.
    """
    belong_to_parent()
    parent = parent_process()
    obstacle = post.executor.enter()
    if post.bounds is None or parent is None:
        _serve(connection, post.token, obstacle)
    else:
        _serve_apart(connection, post.token, obstacle, post.bounds, parent.sentinel)


def _serve(connection: Connection, token: bytes, obstacle: str | None, clock: Clock = SYSTEM_CLOCK) -> None:
    """Make runs in this process. A thread makes them durable while the next one is made, because this takes long."""
    die_with_parent()
    tell = Telling(connection, token)
    attempts: SimpleQueue[tuple[Task, Attempt]] = SimpleQueue()
    _begin(_publish, attempts, tell)
    while isinstance(task := _next(connection), Task):
        started_s = clock.monotonic()
        attempt = make(task, obstacle, partial(_say, tell, task.number))
        tell(RunMade(task.number, clock.monotonic() - started_s))
        attempts.put((task, attempt))
    os._exit(0)


def _serve_apart(
    connection: Connection,
    token: bytes,
    obstacle: str | None,
    bounds: Bounds,
    lifeline: int,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Make each run in a copy of this process. Changes by its plug-ins end with the copy."""
    tell = Telling(connection, token)
    attempts: list[tuple[Task, Attempt]] = []
    _prepare_copies()
    while True:
        if attempts and not (connection.poll(0) and len(attempts) < PUBLISHING):
            _keep_all(attempts, tell)  # several together take little longer than one
        task = _next(connection)
        if task is None:
            os._exit(0)
        if isinstance(task, Bounds):  # another stage begins
            bounds = task
            continue
        started_s = clock.monotonic()
        read_end, write_end = Pipe()
        messages = _RunMessages(read_end, token, tell)
        work = partial(_make_apart, task, obstacle, Telling(write_end, token), bounds)
        child_end = ChildEnd(0, 0)
        try:
            child_end = apart(work, lifeline, bounds, write_end, messages)
        except OSError as error:  # a full disk
            write_end.close()
            messages.attempt = failed(task, one_line(error))
        messages.rest()
        read_end.close()
        if messages.attempt is None:
            _keep_all(attempts, tell)
            end_like(child_end.status)
        else:
            add_to_log(task, take_output(bounds))
            if child_end.left:
                left = f"{child_end.left} processes that the run had started and left were ended"
                add_to_log(task, [line_of(__name__, "info", left)])
            tell(RunMade(task.number, clock.monotonic() - started_s))
            attempts.append((task, messages.attempt))


def _prepare_copies() -> None:
    """Load the modules that the copies of this process need, once for all, but nothing of a plug-in."""
    import dumbbell.plugins.classes  # noqa: F401  (the core imports it for a class)

    prepare()
    gc.collect()
    gc.freeze()  # otherwise garbage collection in a copy writes to all shared memory


def _make_apart(task: Task, obstacle: str | None, tell: Telling, bounds: Bounds) -> None:
    """Make a run in a new process, and send its outcome.

    A plug-in that ends the process leaves a line in the file for last words.
    """
    try:
        core.guard_process(str(bounds.last_words))
    except core.Error as error:  # a full disk
        tell(failed(task, one_line(error)))
        return
    prepare()
    faulthandler.enable(2, all_threads=False)  # adds Python's stack to the report of a crash
    _begin(_beat, tell)
    own_pid = os.getpid()
    attempt = make(task, obstacle, partial(_say, tell, task.number))
    if os.getpid() != own_pid or was_copied(bounds.last_words):
        os._exit(1)  # a copy made by a plug-in may have done anything in the name of this process
    _flush()
    tell(attempt)


class Telling:
    """Sender of messages over a connection. If the reader is gone, this process ends."""

    def __init__(self, connection: Connection, token: bytes) -> None:
        self._connection = connection
        self._token = token
        self._speaking = threading.Lock()

    def __call__(self, message: Message) -> None:
        """Send one message."""
        with self._speaking:
            try:
                send(self._connection, self._token, {"kind": type(message).__name__} | vars(message))
            except OSError:
                os._exit(1)


class _RunMessages:
    """Receiver of the messages of a run's process. It keeps the attempt, and forwards all others to the pool."""

    def __init__(self, connection: Connection, token: bytes, tell: Telling) -> None:
        self._connection = connection
        self._inbox = Inbox(connection, token)
        self._tell = tell
        self.attempt: Attempt | None = None

    def fileno(self) -> int:
        """Return the descriptor from which `hear` reads."""
        return self._connection.fileno()

    def hear(self) -> None:
        """Read the received data, as in `Hearing`."""
        for message in map(read_message, self._inbox.take()):
            if isinstance(message, Attempt):
                require_statistics("told", message.statistics)
                self.attempt = message
            elif isinstance(message, (RunEvent, Beat)):
                self._tell(message)
            else:
                raise GarbledMessage

    def rest(self) -> None:
        """Read the remaining messages after the process has ended."""
        with contextlib.suppress(EOFError, UserError):
            while True:
                self.hear()


def _next(connection: Connection) -> Task | Bounds | None:
    """Wait for the next task, or for new bounds of later tasks; return None if the parent has closed the connection."""
    try:
        message: Task | Bounds = connection.recv()
    except (EOFError, OSError):
        return None
    return message


def _begin(work: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401 (whatever it takes)
    """Start a thread whose failure ends the process."""

    def do() -> None:
        try:
            work(*arguments)
        except BaseException:
            with contextlib.suppress(BaseException):
                sys.__excepthook__(*sys.exc_info())
            os._exit(1)

    threading.Thread(target=do, daemon=True).start()


def _beat(tell: Telling, clock: Clock = SYSTEM_CLOCK) -> None:
    """Send beats to the parent forever."""
    while True:
        clock.sleep(BEAT_S)
        tell(Beat())


def _flush() -> None:
    """Flush the buffers of standard output and error."""
    with contextlib.suppress(Exception):  # plug-ins may have replaced both
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)


def take_output(bounds: Bounds | None) -> list[str]:
    """Return lines for a run's log: the output of plug-ins since the last call, or its beginning if it is long."""
    if bounds is None or bounds.output is None:
        return []
    file = bounds.output
    try:
        with file.open("rb") as stream:
            content = stream.read(KEPT_OUTPUT_BYTES + 1)
        os.truncate(file, 0)
    except OSError:
        return []
    text = content[:KEPT_OUTPUT_BYTES].decode(errors="replace")
    lines = [f"plug-in: {printable(line)}" for line in text.splitlines()]
    if len(content) > KEPT_OUTPUT_BYTES:
        lines.append(f"plug-in: (more than {KEPT_OUTPUT_BYTES // 1024} KiB: the rest was dropped)")
    return lines


def _say(tell: Telling, number: int, text: str, stands_still: bool) -> None:
    tell(RunEvent(number, text, stands_still))


def _publish(attempts: SimpleQueue[tuple[Task, Attempt]], tell: Telling) -> None:
    """Make runs durable, all waiting ones at once, forever."""
    while True:
        batch = [attempts.get()]
        with contextlib.suppress(Empty):
            while len(batch) < PUBLISHING:
                batch.append(attempts.get_nowait())
        _keep_all(batch, tell)


def _keep_all(attempts: list[tuple[Task, Attempt]], tell: Telling) -> None:
    """Make runs durable, report each, and empty the list."""
    for task, statistics in keep_all(attempts) if attempts else ():
        tell(TaskOutcome(task.number, statistics))
    attempts.clear()


def execute(task: Task) -> RunStatistics:
    """Run one task to the end; return its statistics."""
    return keep(task, make(task))


def make(task: Task, obstacle: str | None = None, say: Callable[[str, bool], None] = lambda *_: None) -> Attempt:
    """Run one task. Any error becomes the reason of a failed run; `obstacle` is an error known in advance.

    Events go to the run's log; events that the backend reports at once also go to `say`.
    """
    if not task.keeps_files:
        return _make_numbers(task)
    try:
        require_places(task)
        task.log.parent.mkdir(parents=True, exist_ok=True)
        new_log = RunLog(task.log, task.levels)
    except OSError as error:
        return failed(task, one_line(error))
    with new_log as run_log:
        try:
            return _make_files(task, run_log, obstacle, say)
        except (KeyboardInterrupt, SystemExit):
            task.unfinished.clear(ignore_errors=True)
            raise
        except BaseException as error:  # a panic of the core is no Exception
            return failed(task, one_line(error), error)


def _make_numbers(task: Task) -> Attempt:
    """Simulate a run that keeps only its numbers."""
    try:
        core_statistics = simulate({**task.specification, "log": "none"})
        return Attempt(require_statistics("what came of it", {"status": "done", **core_statistics}))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return failed(task, one_line(error), error)


def _make_files(task: Task, run_log: RunLog, obstacle: str | None, say: Callable[[str, bool], None]) -> Attempt:
    """Run one task.

    Raises:
        BaseException: The reason of a failure.
    """
    started_at = now()
    maker = f" worker={task.maker}" if task.maker else ""
    outside = f" plug-ins={','.join(task.outside)}" if task.outside else ""
    place = f"host={platform.node()} pid={os.getpid()}{maker} python={platform.python_version()}{outside}"
    text = f"begins backend={task.executor.backend.full_name} seed={task.identity.get('seed')} {place}"
    run_log.write(
        f"{started_at} dumbbell {__version__}: {task.label}",
        f"specification: {json.dumps(without_times(task.specification))}",
        line_of(__name__, "info", text),
    )
    if obstacle is not None:
        raise core.Error(obstacle)
    task.temporary.mkdir(parents=True)

    def note(line: str, stands_still: bool | None = None) -> None:
        run_log.write(line_of(__name__, "info", line))
        if stands_still is not None:
            say(line, stands_still)

    statistics = task.executor.run_one(task.specification, task.temporary, note)
    files = recorded(Entry.of(task.temporary))
    state = {"backend": task.executor.backend.full_name, "status": "done", "reason": None}
    times = {"started_at": started_at, "ended_at": now()}
    complete = {**state, **times, **statistics, "samples": sampled_quantities(Entry.of(task.temporary)), "files": files}
    run_statistics = require_statistics("what came of it", complete)  # the statistics may come from another machine
    log.debug("kept files=%s", ",".join(files))
    return Attempt(run_statistics)


def keep(task: Task, attempt: Attempt) -> RunStatistics:
    """Make a run durable in its final place; return its statistics."""
    if not task.keeps_files:
        return attempt.statistics
    try:
        _write(task, attempt)
        publish(task.unfinished, task.place)
    except OSError as error:
        again = failed(task, one_line(error))
        if not attempt.is_failure:
            return keep(task, again)
    return attempt.statistics


def keep_all(batch: list[tuple[Task, Attempt]]) -> list[tuple[Task, RunStatistics]]:
    """Make several runs durable at once. If that fails, do it one by one, so that only the bad ones fail."""
    durable = [(task, attempt) for task, attempt in batch if task.keeps_files]
    try:
        for task, attempt in durable:
            _write(task, attempt)
        if durable:
            publish_all([(task.unfinished, task.place) for task, _ in durable])
    except OSError:
        return [(task, _settle(task, attempt)) for task, attempt in batch]
    return [(task, attempt.statistics) for task, attempt in batch]


def _settle(task: Task, attempt: Attempt) -> RunStatistics:
    """Return the statistics of a run of an interrupted batch. The run may be in its final place already."""
    return keep(task, attempt) if attempt.is_failure or task.temporary.exists() else attempt.statistics


def failed(task: Task, reason: str, error: BaseException | None = None) -> Attempt:
    """Return the attempt of a failed run, with its log written if possible. The parent reports the failure in any case.

    The log has the causes of `error`, and its traceback unless it is a refusal.
    """
    attempt = Attempt(unsuccessful(task.executor.backend.full_name, "failed", reason), is_failure=True)
    if not task.keeps_files:
        return attempt
    with contextlib.suppress(OSError):  # the run may be half durable
        require_places(task)
        (task.unfinished / LOG).move_to(Entry.at(task.out, task.log))
    task.unfinished.clear(ignore_errors=True)
    is_refusal = error is None or isinstance(error, (core.Error, OSError))
    lines = [line_of(__name__, "error", f"failed: {reason}", None if is_refusal else error)]
    while is_refusal and error is not None and (error := error.__cause__ or error.__context__) is not None:
        if one_line(error) not in reason:
            lines.append(line_of(__name__, "error", f"which followed from {type(error).__name__}: {one_line(error)}"))
    add_to_log(task, lines)
    return attempt


def add_to_log(task: Task, lines: list[str]) -> None:
    """Add lines to the log of a task that is not active, if the disk permits."""
    if lines and task.keeps_files:
        with contextlib.suppress(OSError):
            require_places(task)
            task.log.parent.mkdir(parents=True, exist_ok=True)
            append(task.log, lines)


def require_places(task: Task) -> None:
    """Raise an error unless the places of a task are below its existing results directory.

    Raises:
        OSError: If a place is not below the directory, or if the directory is gone.
    """
    if not task.out.is_dir():  # making it again would give an incomplete results directory
        raise FileNotFoundError(errno.ENOENT, "the results directory is gone", str(task.out))
    for place in (task.unfinished, task.place):
        place.require_beneath()


def _write(task: Task, attempt: Attempt) -> None:
    require_places(task)
    if attempt.is_failure:
        task.temporary.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):  # the log is in its place already, or was never written
        Entry.at(task.out, task.log).move_to(task.unfinished / LOG)
    with (task.unfinished / "stats.json").create() as file:
        file.write(to_json(task.identity | attempt.statistics).encode())
