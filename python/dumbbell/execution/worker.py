"""The process that executes runs: one after the other, each into a temporary directory that is then renamed."""

import contextlib
import ctypes
import faulthandler
import os
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from dumbbell import _core
from dumbbell.backends import Executor
from dumbbell.base.errors import one_line, printable
from dumbbell.base.guardian import (
    KEPT_OUTPUT_BYTES,
    Bounds,
    adopt_orphans,
    descendants,
    end_below,
    guarded,
    was_copied,
)
from dumbbell.base.inbox import Garbled, send
from dumbbell.base.json_text import to_json
from dumbbell.base.processes import belong_to_parent, die_with_parent
from dumbbell.base.version import __version__
from dumbbell.results.directory import unsuccessful
from dumbbell.results.environment import now
from dumbbell.results.files import publish, publish_all, require_beneath
from dumbbell.results.rows import read_sampled
from dumbbell.results.whole import FILES, recorded

PUBLISHING = 32
"""Most runs of one process that wait to be durable."""
_CLONE_FS = 0x200
"""Of unshare(2)."""
BEAT_S = 5.0
"""Between two beats of a process that executes plug-ins."""


@dataclass(frozen=True)
class Task:
    """One run to execute. `outside` names its plug-ins."""

    number: int
    label: str
    executor: Executor
    identity: dict[str, Any]
    specification: str
    outside: tuple[str, ...]
    out: Path
    """The directory that both are below."""
    temporary: Path
    final: Path


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
    statistics: dict[str, Any]


@dataclass(frozen=True)
class Beat:
    """The process goes on."""


Message = Made | Said | Done | Beat
_KINDS = {kind.__name__: kind for kind in (Made, Said, Done, Beat)}


def read_message(message: dict[str, Any]) -> Message:
    """What a process has told.

    Raises:
        Garbled: it is nothing that a process tells.
    """
    try:
        return _KINDS[str(message.pop("kind", ""))](**message)
    except (KeyError, TypeError):
        raise Garbled("told what no process of a run tells") from None


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
    if post.bounds is not None and parent is not None:
        guarded(parent.sentinel, 0.0, post.bounds, [connection.fileno()])
    try:
        _serve(connection, post)
    except BaseException:  # whatever a plug-in has broken: the parent has to hear of it, if only by the end
        with contextlib.suppress(BaseException):
            sys.__excepthook__(*sys.exc_info())
        os._exit(1)
    os._exit(0)  # whatever the threads and destructors of plug-ins are about to do


def _serve(connection: Connection, post: Post) -> None:
    bounds = post.bounds
    obstacle = post.executor.enter()
    if bounds is None:
        die_with_parent()
    else:
        adopt_orphans()
        _core.guard_process(str(bounds.last_words))
        faulthandler.enable(2, all_threads=False)  # adds what Python was doing to what is said of a crash
    speaking = threading.Lock()

    def tell(message: Message) -> None:
        with speaking:
            try:
                send(connection, post.token, {"kind": type(message).__name__} | vars(message))
            except OSError:
                os._exit(1)  # nobody listens any more

    made: SimpleQueue[tuple[Task, Attempt]] = SimpleQueue()
    _begin(_publish, made, tell)
    if bounds is not None:
        _begin(_beat, tell)
    own, module, usual = os.getpid(), sys.modules[__name__], Usual.now()
    needed = descendants(own)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        started = time.monotonic()
        attempt = make(task, obstacle, partial(_say, tell, task.number))
        if bounds is not None:
            usual.restore()
        if os.getpid() != own:
            os._exit(1)  # a plug-in has made a copy of this process
        if bounds is not None and sys.modules.get(__name__) is not module:
            with bounds.last_words.open("a", encoding="utf-8") as file:
                file.write("its process has lost modules of Python (sys.modules)\n")
            os._exit(1)  # what comes next may need them
        if bounds is not None and was_copied(bounds.last_words):
            os._exit(1)  # it has done who knows what in the name of this one
        if bounds is not None:
            end_below(but=needed)  # what the run has started counts for none after it
        attempt.log += take_output(bounds)
        tell(Made(task.number, time.monotonic() - started))
        made.put((task, attempt))


@dataclass(frozen=True)
class Usual:
    """What a plug-in may change for the runs after its own: the mask of new files' modes, and limits."""

    umask: int
    limits: Mapping[int, tuple[int, int]]

    @classmethod
    def now(cls) -> "Usual":
        """Return what holds at this moment."""
        umask = os.umask(0o077)
        os.umask(umask)
        kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
        return cls(umask, {kind: resource.getrlimit(kind) for kind in kinds})

    def restore(self) -> None:
        """Makes it hold again, as far as this user may."""
        os.umask(self.umask)
        for kind, (soft, hard) in self.limits.items():
            now = resource.getrlimit(kind)
            if now != (soft, hard):
                fits = now[1] == resource.RLIM_INFINITY or 0 <= soft <= now[1]
                with contextlib.suppress(OSError, ValueError):
                    resource.setrlimit(kind, (soft if fits else now[1], now[1]))


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


def _beat(tell: Callable[[Beat], None]) -> None:
    """Lets the parent know that the process goes on, for ever."""
    while True:
        time.sleep(BEAT_S)
        tell(Beat())


def take_output(bounds: Bounds | None) -> list[str]:
    """Lines of a run's log: what plug-ins have printed since the last call, its beginning if it was much."""
    if bounds is None or bounds.output is None:
        return []
    file = bounds.output
    with contextlib.suppress(Exception):  # plug-ins may have put something else in the place of both
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)
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


def _say(tell: Callable[[Said], None], number: int, text: str, stands_still: bool) -> None:
    tell(Said(number, text, stands_still))


def _publish(made: "SimpleQueue[tuple[Task, Attempt]]", tell: Callable[[Done], None]) -> None:
    """Makes runs durable, all that wait at once, for ever.

    The mode mask and the working directory of this thread are its own: the plug-ins of the next run may change theirs.
    """
    ctypes.CDLL(None).unshare(_CLONE_FS)
    while True:
        batch = [made.get()]
        with contextlib.suppress(Empty):
            while len(batch) < PUBLISHING:
                batch.append(made.get_nowait())
        for task, statistics in keep_all(batch):
            tell(Done(task.number, statistics))


@dataclass
class Attempt:
    """A run that was made, or the reason why not; its files are in the task's temporary directory."""

    statistics: dict[str, Any]
    log: list[str]
    failed: bool = False


def execute(task: Task) -> dict[str, Any]:
    """Runs one task to the end; its statistics."""
    return keep(task, make(task))


def make(task: Task, obstacle: str | None = None, say: Callable[[str, bool], None] = lambda *_: None) -> Attempt:
    """Runs one task. Whatever goes wrong becomes the reason of a failed run, `obstacle` from the start.

    What the backend notes is in the run's log; what it says at once goes to `say`.
    """
    started_at = now()
    log = [f"{started_at} dumbbell {__version__}: {task.label}", f"specification: {task.specification}"]
    try:
        if obstacle is not None:
            raise _core.Error(obstacle)
        require_places(task)
        task.temporary.mkdir(parents=True)

        def note(line: str, stands_still: bool | None = None) -> None:
            log.append(f"{now()} {line}")
            if stands_still is not None:
                say(line, stands_still)

        statistics = task.executor.run_one(task.specification, task.temporary, note)
        statistics |= {"samples": read_sampled(task.temporary), FILES: recorded(task.temporary)}
        times = {"started_at": started_at, "ended_at": now()}
        return Attempt(
            {"backend": task.executor.backend.full_name, "status": "done", "reason": None} | times | statistics, log
        )
    except (KeyboardInterrupt, SystemExit):
        shutil.rmtree(task.temporary, ignore_errors=True)
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return failed(task, log, one_line(error))


def keep(task: Task, attempt: Attempt) -> dict[str, Any]:
    """Makes a run durable in its final place; its statistics."""
    try:
        _write(task, attempt)
        publish(task.temporary, task.final)
    except OSError as error:
        shutil.rmtree(task.temporary, ignore_errors=True)
        if not attempt.failed:
            return keep(task, failed(task, attempt.log, one_line(error)))
    return attempt.statistics


def keep_all(batch: list[tuple[Task, Attempt]]) -> list[tuple[Task, dict[str, Any]]]:
    """Makes several runs durable at once; where that fails, one by one, so that only the bad ones fail."""
    try:
        for task, attempt in batch:
            _write(task, attempt)
        publish_all([(task.temporary, task.final) for task, _ in batch])
    except OSError:
        return [(task, _settled(task, attempt)) for task, attempt in batch]
    return [(task, attempt.statistics) for task, attempt in batch]


def _settled(task: Task, attempt: Attempt) -> dict[str, Any]:
    """Those of a run of a batch that was left half-way: it may be in its place already."""
    return keep(task, attempt) if attempt.failed or task.temporary.exists() else attempt.statistics


def failed(task: Task, log: list[str], reason: str) -> Attempt:
    """What is kept of a run that failed, on disk if the disk takes it; the parent reports it in any case."""
    shutil.rmtree(task.temporary, ignore_errors=True)
    statistics = unsuccessful(task.executor.backend.full_name, "failed", reason)
    return Attempt(statistics, [*log, f"{now()} failed: {reason}"], failed=True)


def require_places(task: Task) -> None:
    """Refuses a task whose places are not below its results directory.

    Raises:
        OSError: they are not.
    """
    for place in (task.temporary, task.final):
        require_beneath(task.out, place)


def _write(task: Task, attempt: Attempt) -> None:
    require_places(task)
    if attempt.failed:
        task.temporary.mkdir(parents=True, exist_ok=True)
    (task.temporary / "log.txt").write_text("\n".join(attempt.log) + "\n", encoding="utf-8")
    (task.temporary / "stats.json").write_text(to_json(task.identity | attempt.statistics), encoding="utf-8")
