"""Executes experiments: spreads their runs over processes and records each when it is finished."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from dumbbell.backends import Executor, find_executor
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.entry import Entry
from dumbbell.base.guardian import LET_GO_S, Bounds, machine_memory_bytes
from dumbbell.base.inbox import TOKEN_BYTES, Garbled, Inbox
from dumbbell.base.interrupts import Undisturbed
from dumbbell.base.logs import levels, logger
from dumbbell.base.processes import Connected, cause_of_death, end_connected, start_connected
from dumbbell.base.progress import Piece, Progress
from dumbbell.execution.budget import Budget, budgets
from dumbbell.execution.estimate import START_S, pieces
from dumbbell.execution.following import Following
from dumbbell.execution.here import Here
from dumbbell.execution.worker import (
    PUBLISHING,
    Done,
    Made,
    Post,
    Said,
    Task,
    add_to_log,
    failed,
    keep,
    read_message,
    serve,
    take_output,
)
from dumbbell.experiment import Run
from dumbbell.results import Gathering, Recording, ResultsDirectory
from dumbbell.results.files import remove_left
from dumbbell.results.series.run_files import LOG

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics

log = logger(__name__)

NOT_RUN = "not run: "
"""Before the reason of a run that was not made because a plug-in of it has ended a process."""
RUNS = "runs"
"""What the stage of executing them is called."""


@dataclass
class Outcome:
    """What became of an experiment."""

    finished: int = 0
    failed: list[tuple[Run, str]] = field(default_factory=list)
    logs: list[Path | None] = field(default_factory=list)
    """Of each that failed, its log; None where nothing could be written."""
    degraded: list[tuple[Run, str]] = field(default_factory=list)
    interrupted: bool = False
    full: str = ""
    """Why the rest was not tried: what was said of the disk that is full, or what may not be used up."""
    missed: list[str] = field(default_factory=list)
    """Rounds of a campaign that were not made at their time, and why."""
    unrecorded: list[str] = field(default_factory=list)

    def with_more(self, later: Outcome) -> Outcome:
        """Return what became of these runs and of those that were made after them."""
        return Outcome(
            self.finished + later.finished,
            self.failed + later.failed,
            self.logs + later.logs,
            self.degraded + later.degraded,
            self.interrupted or later.interrupted,
            self.full or later.full,
            self.missed + later.missed,
            self.unrecorded + later.unrecorded,
        )


class RunListener(Protocol):
    """Receiver of the events of runs: `Stage`, or parts of many runs."""

    def begin(self, number: int, /) -> None:
        """Note that a run begins."""

    def say(self, number: int, text: str, stands_still: bool = False, /) -> None:
        """Show an event of a run."""


@dataclass(frozen=True)
class Work:
    """What is to be executed of one experiment."""

    results: ResultsDirectory
    runs: list[Run]


Tell: TypeAlias = "Callable[[Run, RunStatistics], None]"
"""Is told of every run that was made, with its statistics, as soon as it is durable."""


def execute(
    work: list[Work],
    jobs: int,
    progress: Progress,
    pool: Pool,
    cluster: str | None = None,
    gathering: Gathering | None = None,
    tell: Tell = lambda *_: None,
) -> Outcome:
    """Executes experiments of one backend on `jobs` processes of `pool`, or on a Dask cluster, without a pause.

    Ctrl-C stops at once; what is finished stays. `gathering` is a database for all of them. Before a run begins that
    could use up too much, it stops.
    """
    for part in work:
        part.results.unfinished.require_beneath()
    outcome = Outcome()
    executors = {part.results.directory: find_executor(part.results.experiment) for part in work}
    executor = executors[work[0].results.directory]
    todo = [(part.results, run) for part in work for run in part.runs]
    limits = {part.results.directory: budgets(part.results) for part in work}
    recording, following = Recording([part.results for part in work], gathering), Following(progress.clock)
    outcome.unrecorded = recording.failures
    try:
        for part in work:
            remove_left(part.results.directory)
            part.results.unfinished.clear(ignore_errors=True)
        places: Pool | Here | Cluster | None = None
        try:
            place = work[0].results.unfinished.path
            jobs = min(jobs, len(todo))
            has_plugins = any(results.experiment.outside(run) for results, run in todo)
            if cluster is None and _is_made_here(executor, todo, has_plugins):
                places = Here(executor, progress.clock)
            elif cluster is None:
                places = pool
                pool.begin(executor, jobs, place / "last-words", has_plugins)
            else:
                from dumbbell.execution.cluster import Cluster

                places = Cluster(cluster, executor)
            stage = progress.expect(RUNS, _pieces(work), places.side_by_side, START_S)
            # a plug-in may leave the working directory, and takes the other runs of its process along
            here = Path.cwd() if has_plugins else Path()
            tasks = _Tasks(map(following.begin, tasks_of(todo, executors, here)), todo, limits)
            side_by_side, backend = places.side_by_side, executor.backend.full_name
            log.info("%d runs begin on %d places backend=%s", len(todo), side_by_side, backend)
            for done, statistics, seconds in places.map(tasks, stage):
                results, run = todo[done]
                for budget in limits[results.directory]:
                    budget.made(run, statistics)
                following.end(done)
                recording.record(results, results.complete(run, statistics))
                kept_log = _note(outcome, run, statistics, results.folder(run) / LOG)
                told = statistics.get("reason")
                if told is not None and told.startswith(NOT_RUN):
                    told = None  # why is told already
                if told is not None and kept_log is not None:
                    told = f"{told} (log: {kept_log})"
                stage.step(done, statistics["status"], told, seconds)
                tell(run, statistics)
                if _tells_of_full_disk(statistics.get("reason")):
                    outcome.interrupted, outcome.full = True, statistics.get("reason") or ""
                    break
            else:
                outcome.interrupted, outcome.full = bool(tasks.refusal), tasks.refusal
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            progress.doing("finishing")
            with Undisturbed() as cleaning:
                log.info("processes of runs are ended, and what they have left is removed")
                if places is not None:
                    places.stop()
                executor.clean_up()
            outcome.interrupted |= cleaning.was_interrupted
    finally:
        with Undisturbed() as cleaning:
            following.close()
            recording.close()
            for part in work:
                part.results.unfinished.clear(ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def _is_made_here(executor: Executor, todo: Sequence[object], has_plugins: bool) -> bool:
    """Return whether this process makes the runs: a single one, of which nothing happens in real time.

    Its log is then not followed for `-v`: this process writes it.
    """
    is_plain = not (has_plugins or executor.backend.capabilities.real_packets)
    return len(todo) == 1 and is_plain and levels().most > logging.INFO


def _tells_of_full_disk(reason: str | None) -> bool:
    """Whether a run failed for want of space: so would the others, after all the time that they take."""
    return reason is not None and any(os.strerror(number) in reason for number in (errno.ENOSPC, errno.EDQUOT))


def _pieces(work: list[Work]) -> list[Piece]:
    return [piece for part in work for piece in pieces(part.results.experiment, part.runs)]


def _note(outcome: Outcome, run: Run, statistics: RunStatistics, log_file: Entry) -> Path | None:
    """Adds what became of a run to the outcome; the log of one that failed."""
    status, reason = statistics["status"], statistics.get("reason") or ""
    if status == "done":
        outcome.finished += 1
    elif status == "degraded":
        outcome.degraded.append((run, reason))
    else:
        outcome.failed.append((run, reason if status == "failed" else f"{status}: {reason}"))
        outcome.logs.append(log_file.path if log_file.is_file() else None)
        return outcome.logs[-1]
    return None


class _Tasks(Iterator[Task]):
    """The runs in the order in which they begin.

    Before one that could use up too much there are none for now, while others go on that may turn out to need less; and
    none at all when they are over.
    """

    def __init__(
        self, tasks: Iterator[Task], todo: list[tuple[ResultsDirectory, Run]], limits: dict[Path, list[Budget]]
    ) -> None:
        self._tasks = tasks
        self._todo = todo
        self._limits = limits
        self._next: Task | None = None
        self.refusal = ""
        """Why the rest does not begin."""

    def __next__(self) -> Task:
        self._next = task = self._next or next(self._tasks)
        results, run = self._todo[task.number]
        limits = self._limits[results.directory]
        refusal = next(filter(None, (budget.refusal(run) for budget in limits)), "")
        if refusal:
            self.refusal = "" if any(budget.aside for budget in limits) else refusal
            raise StopIteration
        for budget in limits:
            budget.begin(run)
        self._next = None
        return task


def tasks_of(
    todo: list[tuple[ResultsDirectory, Run]], executors: Mapping[Path, Executor], here: Path
) -> Iterator[Task]:
    """Yield the tasks of runs, with places below `here`; `executors` are those of the results directories."""
    wanted = levels().of_runs()
    for place, (results, run) in enumerate(todo):
        yield Task(
            number=place,
            label=run.label,
            executor=executors[results.directory],
            identity={"scheme": run.scheme, "path": run.path, "run": run.run, "seed": run.seed},
            specification=results.experiment.specification(run),
            outside=tuple(f"{scheme.name} ({scheme.code})" for scheme in results.experiment.outside(run)),
            out=here / results.directory,
            temporary=here / results.unfinished.path / str(place),
            final=here / results.folder(run).path,
            levels=wanted,
        )


QUICK_S = 0.25
"""A process whose runs take less has the next one waiting: to ask for it would cost more than idleness at the end."""
SILENCE_S = 90
"""So long a process with plug-ins may tell nothing, not even that it goes on. One may take 60 s to make its state."""
LOOK_S = 1.0
"""Time between two looks at which processes are silent, s."""
PROCESSES = 64
"""Most processes that a process with plug-ins may start ..."""
PROCESSES_OF_PROGRAMS = 1000
"""... and those of programs that run beside plug-ins with real packets."""
LEAST_MEMORY_BYTES = 2 * 2**30
"""So much memory a process with plug-ins may take, however many there are."""


@dataclass
class _Worker(Connected):
    inbox: Inbox
    bounds: Bounds | None
    """For a process that executes plug-ins."""
    waiting: dict[int, Task] = field(default_factory=dict)
    """Handed out and not made yet, in the order in which they are made."""
    kept: dict[int, Task] = field(default_factory=dict)
    """Made and not durable yet."""
    seconds: dict[int, float] = field(default_factory=dict)
    """What these took."""
    is_quick: bool = False
    silent_s: float = 0.0

    @property
    def has_room(self) -> bool:
        """Whether it should get another task now."""
        return len(self.waiting) <= self.is_quick and len(self.kept) <= PUBLISHING

    def give(self, task: Task) -> None:
        """Sends it a task; where it has just died, the end of the connection is what comes next."""
        with contextlib.suppress(OSError):
            self.connection.send(task)

    def end(self, within_s: float) -> int:
        """End the process with all that it has started, if it does not end by itself; return its exit code."""
        self.process.join(within_s)
        end_connected([self])
        return self.process.exitcode or 0


class Pool:
    """Worker processes that survive each other: one that dies fails its run only, and is replaced.

    A plug-in that has ended a process is not executed again in the same stage. Between stages workers wait.
    """

    executor: Executor
    folder: Path

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.started = 0
        """Number of workers that a stage began with or started, over all stages."""
        self._has_plugins = False
        self._clock = clock
        self._memory_bytes = 0
        self._ended: dict[frozenset[str], str] = {}
        """Plug-ins that have ended a process, each with the run in which it did; several if any may have."""
        self._skipped: deque[Done] = deque()
        self.workers: list[_Worker] = []
        """Workers of the stage."""
        self._waiting: list[_Worker] = []
        """Workers that have nothing to do until a stage of their kind begins."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with Undisturbed() as cleaning:
            self._end()
        if cleaning.was_interrupted:
            raise KeyboardInterrupt

    def begin(self, executor: Executor, count: int, folder: Path, has_plugins: bool) -> None:
        """Begin a stage with `count` workers. Their last words, and what plug-ins print, go into `folder`."""
        if self._waiting and (self.executor, self._has_plugins) != (executor, has_plugins):
            self._end()
        self.executor, self.folder, self._has_plugins = executor, folder, has_plugins
        with contextlib.suppress(OSError):  # without it runs say themselves that nothing can be written
            folder.mkdir(parents=True, exist_ok=True)
        self._memory_bytes = max(LEAST_MEMORY_BYTES, machine_memory_bytes() * 3 // 4 // max(1, count))
        self._ended.clear()
        for _ in range(count):
            self.workers.append(self._woken() or self._start())

    def _woken(self) -> _Worker | None:
        """Return a worker of an earlier stage, which is told its new bounds; None if there is none."""
        while self._waiting:
            worker = self._waiting.pop()
            if worker.process.is_alive():
                fresh = _Worker(worker.process, worker.connection, worker.inbox, self._bounds())
                if fresh.bounds is not None:
                    with contextlib.suppress(OSError):  # it has just died: the end of the connection is what comes next
                        fresh.connection.send(fresh.bounds)
                return fresh
            end_connected([worker])
        return None

    def _bounds(self) -> Bounds | None:
        """Return the bounds of the next worker; None without plug-ins."""
        self.started += 1
        if not self._has_plugins:
            return None
        words, output = self.folder / str(self.started), self.folder / f"{self.started}.output"
        most = PROCESSES_OF_PROGRAMS if self.executor.backend.capabilities.real_packets else PROCESSES
        return Bounds(words, output, most, self._memory_bytes)

    def _start(self) -> _Worker:
        bounds = self._bounds()
        token = os.urandom(TOKEN_BYTES)
        process, connection = start_connected(serve, Post(self.executor, token, bounds))
        log.info("a process that makes runs has started pid=%s plug-ins=%s", process.pid, self._has_plugins)
        return _Worker(process, connection, Inbox(connection, token), bounds)

    @property
    def side_by_side(self) -> int:
        """How many runs go on at once."""
        return len(self.workers)

    def map(self, tasks: Iterator[Task], stage: RunListener) -> Iterator[tuple[int, RunStatistics, float | None]]:
        """Executes the tasks; yields number, statistics and seconds of each in the order in which they finish.

        `stage` is told what happens to them.
        """
        for worker in self.workers:
            self._hand_out(worker, tasks, stage)
        while True:
            while self._skipped:
                done = self._skipped.popleft()
                yield done.number, done.statistics, None
            busy = {worker.connection: worker for worker in self.workers if worker.waiting or worker.kept}
            if not busy:
                return
            for worker in self._ready(busy):
                for done in self._hear(worker, stage):
                    yield done.number, done.statistics, worker.seconds.pop(done.number, None)
                self._hand_out(worker, tasks, stage)

    def _ready(self, busy: dict[Connection, _Worker]) -> list[_Worker]:
        """Those that have something to tell, or should have had for long."""
        began = self._clock.monotonic()
        ready = self._clock.wait(lambda within_s: wait(list(busy), within_s), LOOK_S if self._has_plugins else None)
        # this process may have been stopped: then the time that has passed says nothing of others
        waited_s = min(self._clock.monotonic() - began, LOOK_S)
        for connection, worker in busy.items():
            worker.silent_s = 0.0 if connection in ready else worker.silent_s + waited_s
        return [each for connection, each in busy.items() if connection in ready or each.silent_s > SILENCE_S]

    def _hear(self, worker: _Worker, stage: RunListener) -> list[Done]:
        """Takes note of what a process tells; the runs that are over."""
        if worker.silent_s > SILENCE_S:
            return self._replace(worker, f"has told nothing for {SILENCE_S} s")
        over: list[Done] = []
        try:
            for message in map(read_message, worker.inbox.take()):
                if isinstance(message, Said):
                    stage.say(message.number, message.text, message.stands_still)
                elif isinstance(message, Made):
                    worker.kept[message.number] = worker.waiting.pop(message.number)
                    worker.is_quick = message.seconds < QUICK_S
                    worker.seconds[message.number] = message.seconds
                    if worker.waiting:
                        stage.begin(next(iter(worker.waiting)))
                elif isinstance(message, Done):
                    del worker.kept[message.number]
                    over.append(message)
        except EOFError:
            over += self._replace(worker)
        except Garbled as error:
            over += self._replace(worker, str(error))
        except KeyError:
            over += self._replace(worker, "told of a run that it was not given")
        return over

    def _hand_out(self, worker: _Worker, tasks: Iterator[Task], stage: RunListener) -> None:
        while worker.has_room and (task := self._next(tasks)) is not None:
            if not worker.waiting:
                stage.begin(task.number)
            worker.waiting[task.number] = task
            worker.give(task)

    def _next(self, tasks: Iterator[Task]) -> Task | None:
        """The next task that is worth to be done."""
        for task in tasks:
            if not self._skips(task):
                return task
        return None

    def _skips(self, task: Task) -> bool:
        """Return whether plug-ins of the task have ended a process before. If so, the run of the task has failed."""
        culprits = next((each for each in self._ended if each.issubset(task.outside)), None)
        if culprits is not None:
            reason = f"{NOT_RUN}{' or '.join(sorted(culprits))} ended the process of {self._ended[culprits]}"
            self._skipped.append(Done(task.number, keep(task, failed(task, reason))))
        return culprits is not None

    def _replace(self, worker: _Worker, what: str = "") -> list[Done]:
        """Replaces a process that died, or that did `what`. Its run has failed; a new one makes the others."""
        code, pid = worker.end(0.0 if what else LET_GO_S), worker.process.pid
        bounds, waiting, kept = worker.bounds, list(worker.waiting.values()), list(worker.kept.values())
        fresh = self._start()
        worker.process, worker.connection, worker.inbox, worker.bounds = (
            fresh.process,
            fresh.connection,
            fresh.inbox,
            fresh.bounds,
        )
        worker.silent_s = 0.0
        # without one that was being made, something was broken that those before need
        culprits, again = (waiting[:1], kept) if waiting or not bounds else (kept, [])
        over: list[Done] = []
        printed = take_output(bounds)
        log.info(
            "a process that makes runs has ended pid=%s exit=%s runs=%d; another one takes its place",
            pid,
            code,
            len(again),
        )
        for culprit in culprits:
            reason = cause_of_death(code, bounds.last_words if bounds else None, culprit.outside, what)
            add_to_log(culprit, printed)
            over.append(Done(culprit.number, keep(culprit, failed(culprit, reason))))
            named = [each for each in culprit.outside if f"scheme {each.removesuffix(')')}" in reason]
            if culprit.outside:
                self._ended[frozenset(named or culprit.outside)] = culprit.label
        again += [task for task in waiting[1:] if not self._skips(task)]
        worker.kept, worker.waiting = {}, {task.number: task for task in again}
        for task in again:
            task.unfinished.clear(ignore_errors=True)
            worker.give(task)
        return over

    def stop(self) -> None:
        """End the stage: all workers at once if one still makes runs, or has to do with real packets."""
        is_over = not (self._skipped or any(worker.waiting or worker.kept for worker in self.workers))
        self._waiting += self.workers
        self.workers = []
        if not is_over or self.executor.backend.capabilities.real_packets:
            self._end()

    def _end(self) -> None:
        """End all workers at once."""
        end_connected([*self.workers, *self._waiting])
        self.workers, self._waiting = [], []
        self._skipped.clear()
