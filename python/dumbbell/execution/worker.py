"""The process that executes runs: one after the other, each into a temporary directory that is then renamed."""

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
from dumbbell.base.guardian import KEPT_OUTPUT_BYTES, Bounds, Ended, apart, end_like, was_copied
from dumbbell.base.inbox import Garbled, Inbox, send
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
"""Most runs of one process that wait to be durable."""
BEAT_S = 5.0
"""Between two beats of a process that executes plug-ins."""


@dataclass(frozen=True)
class Task:
    """One run to execute. `outside` names its plug-ins."""

    number: int
    label: str
    executor: Executor
    identity: dict[str, str | int]
    specification: RunSpec
    outside: tuple[str, ...]
    out: Path
    """The directory that both are below."""
    temporary: Path
    final: Path
    levels: Levels = RUNS
    """What is wanted in its log."""
    maker: str = ""
    """Which worker of a cluster makes it."""
    keeps_files: bool = True
    """Without them it has no directory, neither `temporary` nor `final`: what it tells is all that is left of it."""

    @cached_property
    def unfinished(self) -> Entry:
        """The folder where the run is made, `temporary`, reached without following links."""
        return Entry.at(self.out, self.temporary)

    @cached_property
    def place(self) -> Entry:
        """The folder where the run is kept, `final`, reached without following links."""
        return Entry.at(self.out, self.final)

    @cached_property
    def log(self) -> Path:
        """Its log until it is durable: beside its directory, which a backend may empty and a failure removes."""
        return Path(f"{self.temporary}.log")


@dataclass(frozen=True)
class Made:
    """A task's run is made, in so many seconds; it is not durable yet."""

    number: int
    seconds: float


@dataclass(frozen=True)
class Said:
    """What happens to the run that is being made; `stands_still`: it waits for others."""

    number: int
    text: str
    stands_still: bool


@dataclass(frozen=True)
class Done:
    """What became of a task; `statistics` are the contents of its `stats.json`."""

    number: int
    statistics: RunStatistics


@dataclass
class Attempt:
    """A run that was made, or the reason why not; its files are in the task's temporary directory."""

    statistics: RunStatistics
    failed: bool = False


@dataclass(frozen=True)
class Beat:
    """The process goes on."""


Message = Made | Said | Done | Attempt | Beat
_KINDS = {kind.__name__: kind for kind in (Made, Said, Done, Attempt, Beat)}
_TYPES = {
    "number": int,
    "seconds": float,
    "text": str,
    "stands_still": bool,
    "statistics": dict,
    "failed": bool,
}


def read_message(message: dict[str, Any]) -> Message:  # of any kinds until they are checked
    """What a process has told.

    Raises:
        Garbled: it is nothing that a process tells.
    """
    try:
        told = _KINDS[str(message.pop("kind", ""))](**message)
        if all(isinstance(value, _TYPES[name]) for name, value in vars(told).items()):
            return told
    except (KeyError, TypeError):
        pass
    raise Garbled("told what no process of a run tells")


@dataclass(frozen=True)
class Post:
    """What a process that executes runs is given: how it may be told by, and within which bounds it works.

    Without `bounds` it executes nothing but dumbbell's own code.
    """

    executor: Executor
    token: bytes
    bounds: Bounds | None


def serve(connection: Connection, post: Post) -> None:
    """Executes tasks from the connection until it closes. Only the parent stops it, so it ignores Ctrl-C.

    A plug-in that ends the process leaves a line in the file for last words.

    Waiting for the disk takes longer than a short run: a thread of its own makes runs durable while the next is made.
    """
    belong_to_parent()
    parent = parent_process()
    obstacle = post.executor.enter()
    if post.bounds is None or parent is None:
        _serve(connection, post.token, obstacle)
    else:
        _serve_apart(connection, post.token, obstacle, post.bounds, parent.sentinel)


def _serve(connection: Connection, token: bytes, obstacle: str | None, clock: Clock = SYSTEM_CLOCK) -> None:
    """Makes runs in this process. A thread makes them durable while the next is made, for that takes long."""
    die_with_parent()
    tell = Telling(connection, token)
    made: SimpleQueue[tuple[Task, Attempt]] = SimpleQueue()
    _begin(_publish, made, tell)
    while isinstance(task := _next(connection), Task):
        started = clock.monotonic()
        attempt = make(task, obstacle, partial(_say, tell, task.number))
        tell(Made(task.number, clock.monotonic() - started))
        made.put((task, attempt))
    os._exit(0)


def _serve_apart(
    connection: Connection,
    token: bytes,
    obstacle: str | None,
    bounds: Bounds,
    lifeline: int,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Makes each run in a process of its own, which is a copy of this one: what its plug-ins change ends with it."""
    tell = Telling(connection, token)
    made: list[tuple[Task, Attempt]] = []
    _prepare_copies()
    while True:
        if made and not (connection.poll(0) and len(made) < PUBLISHING):
            _keep_all(made, tell)  # several at once take little longer than one
        task = _next(connection)
        if task is None:
            os._exit(0)
        if isinstance(task, Bounds):  # another stage begins
            bounds = task
            continue
        started = clock.monotonic()
        ours, theirs = Pipe()
        heard = _Heard(ours, token, tell)
        work = partial(_make_apart, task, obstacle, Telling(theirs, token), bounds)
        ended = Ended(0, 0)
        try:
            ended = apart(work, lifeline, bounds, theirs, heard)
        except OSError as error:  # a full disk
            theirs.close()
            heard.attempt = failed(task, one_line(error))
        heard.rest()
        ours.close()
        if heard.attempt is None:
            _keep_all(made, tell)
            end_like(ended.status)
        else:
            add_to_log(task, take_output(bounds))
            if ended.left:
                left = f"{ended.left} processes that the run had started and left were ended"
                add_to_log(task, [line_of(__name__, "info", left)])
            tell(Made(task.number, clock.monotonic() - started))
            made.append((task, heard.attempt))


def _prepare_copies() -> None:
    """Load what the copies of this process need, so that each does not do so again; nothing of a plug-in."""
    import dumbbell.plugins.classes  # noqa: F401  (the core imports it for a class)

    prepare()
    gc.collect()
    gc.freeze()  # else the collections of a copy write to all that it shares with this process


def _make_apart(task: Task, obstacle: str | None, tell: Telling, bounds: Bounds) -> None:
    """Makes a run in a process that is made for it, and tells what came of it.

    A plug-in that ends the process leaves a line in the file for last words.
    """
    try:
        core.guard_process(str(bounds.last_words))
    except core.Error as error:  # a full disk
        tell(failed(task, one_line(error)))
        return
    prepare()
    faulthandler.enable(2, all_threads=False)  # adds what Python was doing to what is said of a crash
    _begin(_beat, tell)
    own = os.getpid()
    attempt = make(task, obstacle, partial(_say, tell, task.number))
    if os.getpid() != own or was_copied(bounds.last_words):
        os._exit(1)  # a copy that a plug-in has made did who knows what in the name of this process
    _flush()
    tell(attempt)


class Telling:
    """Sends messages over a connection. If nobody reads them, this process ends."""

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


class _Heard:
    """Receives the messages of a run's process. It keeps the attempt, and passes all others on to the pool."""

    def __init__(self, connection: Connection, token: bytes, tell: Telling) -> None:
        self._connection = connection
        self._inbox = Inbox(connection, token)
        self._tell = tell
        self.attempt: Attempt | None = None

    def fileno(self) -> int:
        """Return the descriptor from which it reads."""
        return self._connection.fileno()

    def hear(self) -> None:
        """Read what has arrived, as `Hearing` says."""
        for message in map(read_message, self._inbox.take()):
            if isinstance(message, Attempt):
                require_statistics("told", message.statistics)
                self.attempt = message
            elif isinstance(message, (Said, Beat)):
                self._tell(message)
            else:
                raise Garbled

    def rest(self) -> None:
        """Read what is left after the process has ended."""
        with contextlib.suppress(EOFError, UserError):
            while True:
                self.hear()


def _next(connection: Connection) -> Task | Bounds | None:
    """Wait for the next task, or for the bounds of the tasks after it; None if the parent has closed the connection."""
    try:
        message: Task | Bounds = connection.recv()
    except (EOFError, OSError):
        return None
    return message


def _begin(work: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401 (whatever it takes)
    """Begins a thread without which the process is worth nothing."""

    def do() -> None:
        try:
            work(*arguments)
        except BaseException:
            with contextlib.suppress(BaseException):
                sys.__excepthook__(*sys.exc_info())
            os._exit(1)

    threading.Thread(target=do, daemon=True).start()


def _beat(tell: Telling, clock: Clock = SYSTEM_CLOCK) -> None:
    """Lets the parent know that the process goes on, for ever."""
    while True:
        clock.sleep(BEAT_S)
        tell(Beat())


def _flush() -> None:
    """Write out what the buffers of standard output and error still hold."""
    with contextlib.suppress(Exception):  # plug-ins may have put something else in the place of both
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)


def take_output(bounds: Bounds | None) -> list[str]:
    """Lines of a run's log: what plug-ins have printed since the last call, its beginning if it was much."""
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
    tell(Said(number, text, stands_still))


def _publish(made: SimpleQueue[tuple[Task, Attempt]], tell: Telling) -> None:
    """Makes runs durable, all that wait at once, for ever."""
    while True:
        batch = [made.get()]
        with contextlib.suppress(Empty):
            while len(batch) < PUBLISHING:
                batch.append(made.get_nowait())
        _keep_all(batch, tell)


def _keep_all(made: list[tuple[Task, Attempt]], tell: Telling) -> None:
    """Make runs durable, tell so of each, and empty the list."""
    for task, statistics in keep_all(made) if made else ():
        tell(Done(task.number, statistics))
    made.clear()


def execute(task: Task) -> RunStatistics:
    """Runs one task to the end; its statistics."""
    return keep(task, make(task))


def make(task: Task, obstacle: str | None = None, say: Callable[[str, bool], None] = lambda *_: None) -> Attempt:
    """Runs one task. Whatever goes wrong becomes the reason of a failed run, `obstacle` from the start.

    What happens is in the run's log; what the backend says at once goes to `say` too.
    """
    if not task.keeps_files:
        return _numbered(task)
    try:
        require_places(task)
        task.log.parent.mkdir(parents=True, exist_ok=True)
        opened = RunLog(task.log, task.levels)
    except OSError as error:
        return failed(task, one_line(error))
    with opened as run_log:
        try:
            return _made(task, run_log, obstacle, say)
        except (KeyboardInterrupt, SystemExit):
            task.unfinished.clear(ignore_errors=True)
            raise
        except BaseException as error:  # a panic of the core is no Exception
            return failed(task, one_line(error), error)


def _numbered(task: Task) -> Attempt:
    """Simulate a run of which only the numbers are kept."""
    try:
        told = simulate({**task.specification, "log": "none"})
        return Attempt(require_statistics("what came of it", {"status": "done", **told}))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return failed(task, one_line(error), error)


def _made(task: Task, run_log: RunLog, obstacle: str | None, say: Callable[[str, bool], None]) -> Attempt:
    """Runs one task.

    Raises:
        BaseException: why it failed.
    """
    started_at = now()
    maker = f" worker={task.maker}" if task.maker else ""
    outside = f" plug-ins={','.join(task.outside)}" if task.outside else ""
    where = f"host={platform.node()} pid={os.getpid()}{maker} python={platform.python_version()}{outside}"
    what = f"begins backend={task.executor.backend.full_name} seed={task.identity.get('seed')} {where}"
    run_log.write(
        f"{started_at} dumbbell {__version__}: {task.label}",
        f"specification: {json.dumps(without_times(task.specification))}",
        line_of(__name__, "info", what),
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
    kept = {**state, **times, **statistics, "samples": sampled_quantities(Entry.of(task.temporary)), "files": files}
    made = require_statistics("what came of it", kept)  # another machine may have had its part in it
    log.debug("kept files=%s", ",".join(files))
    return Attempt(made)


def keep(task: Task, attempt: Attempt) -> RunStatistics:
    """Makes a run durable in its final place; its statistics."""
    if not task.keeps_files:
        return attempt.statistics
    try:
        _write(task, attempt)
        publish(task.unfinished, task.place)
    except OSError as error:
        again = failed(task, one_line(error))
        if not attempt.failed:
            return keep(task, again)
    return attempt.statistics


def keep_all(batch: list[tuple[Task, Attempt]]) -> list[tuple[Task, RunStatistics]]:
    """Makes several runs durable at once; where that fails, one by one, so that only the bad ones fail."""
    durable = [(task, attempt) for task, attempt in batch if task.keeps_files]
    try:
        for task, attempt in durable:
            _write(task, attempt)
        if durable:
            publish_all([(task.unfinished, task.place) for task, _ in durable])
    except OSError:
        return [(task, _settled(task, attempt)) for task, attempt in batch]
    return [(task, attempt.statistics) for task, attempt in batch]


def _settled(task: Task, attempt: Attempt) -> RunStatistics:
    """Those of a run of a batch that was left half-way: it may be in its place already."""
    return keep(task, attempt) if attempt.failed or task.temporary.exists() else attempt.statistics


def failed(task: Task, reason: str, error: BaseException | None = None) -> Attempt:
    """What is kept of a run that failed, on disk if the disk takes it; the parent reports it in any case.

    Its log says what `error` followed from, and where in the program it came up if that is no refusal.
    """
    made = Attempt(unsuccessful(task.executor.backend.full_name, "failed", reason), failed=True)
    if not task.keeps_files:
        return made
    with contextlib.suppress(OSError):  # it may be half durable
        require_places(task)
        (task.unfinished / LOG).move_to(Entry.at(task.out, task.log))
    task.unfinished.clear(ignore_errors=True)
    is_refusal = error is None or isinstance(error, (core.Error, OSError))
    lines = [line_of(__name__, "error", f"failed: {reason}", None if is_refusal else error)]
    while is_refusal and error is not None and (error := error.__cause__ or error.__context__) is not None:
        if one_line(error) not in reason:
            lines.append(line_of(__name__, "error", f"which followed from {type(error).__name__}: {one_line(error)}"))
    add_to_log(task, lines)
    return made


def add_to_log(task: Task, lines: list[str]) -> None:
    """Adds lines to the log of a task that is not being made, in its place only, and as far as the disk takes them."""
    if lines and task.keeps_files:
        with contextlib.suppress(OSError):
            require_places(task)
            task.log.parent.mkdir(parents=True, exist_ok=True)
            append(task.log, lines)


def require_places(task: Task) -> None:
    """Refuses a task whose places are not below its results directory, which is there.

    Raises:
        OSError: they are not, or it is gone.
    """
    if not task.out.is_dir():  # it would be made anew, without what a results directory needs
        raise FileNotFoundError(errno.ENOENT, "the results directory is gone", str(task.out))
    for place in (task.unfinished, task.place):
        place.require_beneath()


def _write(task: Task, attempt: Attempt) -> None:
    require_places(task)
    if attempt.failed:
        task.temporary.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):  # it is there already, or the disk took none
        Entry.at(task.out, task.log).move_to(task.unfinished / LOG)
    with (task.unfinished / "stats.json").create() as file:
        file.write(to_json(task.identity | attempt.statistics).encode())
