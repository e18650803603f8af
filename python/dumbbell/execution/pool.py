"""Execution of experiments on local processes: runs are spread over them, and each is recorded when it finishes."""

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
from dumbbell.base.inbox import TOKEN_BYTES, GarbledMessage, Inbox
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.logs import levels, logger
from dumbbell.base.processes import ConnectedProcess, cause_of_death, end_connected, start_connected
from dumbbell.base.progress import Piece, Progress
from dumbbell.execution.budget import Budget, budgets
from dumbbell.execution.estimate import START_S, pieces
from dumbbell.execution.following import Following
from dumbbell.execution.here import OwnProcess
from dumbbell.execution.worker import (
    PUBLISHING,
    Post,
    RunEvent,
    RunMade,
    Task,
    TaskOutcome,
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
"""Prefix of the reason of a run that was not made because one of its plug-ins has ended a process."""
RUNS = "runs"
"""Name of the stage that executes runs."""


@dataclass
class Outcome:
    """Outcome of an experiment."""

    finished: int = 0
    failed: list[tuple[Run, str]] = field(default_factory=list)
    logs: list[Path | None] = field(default_factory=list)
    """Log of each failed run; None if it could not be written."""
    degraded: list[tuple[Run, str]] = field(default_factory=list)
    interrupted: bool = False
    full: str = ""
    """Reason why the rest was not tried: the message of the full disk, or the exhausted budget."""
    missed: list[str] = field(default_factory=list)
    """Rounds of a campaign that were not made at their time, with the reasons."""
    unrecorded: list[str] = field(default_factory=list)

    def with_more(self, later: Outcome) -> Outcome:
        """Return the outcome of these runs and of later runs together."""
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
    """Runs of one experiment to execute."""

    results: ResultsDirectory
    runs: list[Run]


Tell: TypeAlias = "Callable[[Run, RunStatistics], None]"
"""Function that receives every finished run with its statistics, as soon as it is durable."""


def execute(
    work: list[Work],
    jobs: int,
    progress: Progress,
    pool: Pool,
    cluster: str | None = None,
    gathering: Gathering | None = None,
    tell: Tell = lambda *_: None,
) -> Outcome:
    """Execute experiments of one backend on `jobs` processes of `pool`, or on a Dask cluster, without a pause.

    Ctrl-C stops at once; finished runs stay. `gathering` is a database for all experiments. The execution stops
    before a run that could exceed a budget.
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
        places: Pool | OwnProcess | Cluster | None = None
        try:
            place = work[0].results.unfinished.path
            jobs = min(jobs, len(todo))
            has_plugins = any(results.experiment.outside(run) for results, run in todo)
            if cluster is None and _is_made_here(executor, todo, has_plugins):
                places = OwnProcess(executor, progress.clock)
            elif cluster is None:
                places = pool
                pool.begin(executor, jobs, place / "last-words", has_plugins)
            else:
                from dumbbell.execution.cluster import Cluster

                places = Cluster(cluster, executor)
            stage = progress.expect(RUNS, _pieces(work), places.side_by_side, START_S)
            # a plug-in may change the working directory of its process, so places are absolute
            base = Path.cwd() if has_plugins else Path()
            tasks = _Tasks(map(following.begin, tasks_of(todo, executors, base)), todo, limits)
            side_by_side, backend = places.side_by_side, executor.backend.full_name
            log.info("%d runs begin on %d places backend=%s", len(todo), side_by_side, backend)
            for number, statistics, seconds in places.map(tasks, stage):
                results, run = todo[number]
                for budget in limits[results.directory]:
                    budget.finish(run, statistics)
                following.end(number)
                recording.record(results, results.complete(run, statistics))
                kept_log = _note(outcome, run, statistics, results.folder(run) / LOG)
                reason = statistics.get("reason")
                if reason is not None and reason.startswith(NOT_RUN):
                    reason = None  # the reason was reported already
                if reason is not None and kept_log is not None:
                    reason = f"{reason} (log: {kept_log})"
                stage.step(number, statistics["status"], reason, seconds)
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
            with Uninterrupted() as cleaning:
                log.info("processes of runs are ended, and what they have left is removed")
                if places is not None:
                    places.stop()
                executor.clean_up()
            outcome.interrupted |= cleaning.was_interrupted
    finally:
        with Uninterrupted() as cleaning:
            following.close()
            recording.close()
            for part in work:
                part.results.unfinished.clear(ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def _is_made_here(executor: Executor, todo: Sequence[object], has_plugins: bool) -> bool:
    """Return True if this process makes the runs: for a single run without real packets or plug-ins.

    The log of such a run is not followed for `-v`, because this process writes it.
    """
    is_plain = not (has_plugins or executor.backend.capabilities.real_packets)
    return len(todo) == 1 and is_plain and levels().most_detailed > logging.INFO


def _tells_of_full_disk(reason: str | None) -> bool:
    """Return True if a run failed because the disk is full.

    Then all others would fail, too, after their whole duration.
    """
    return reason is not None and any(os.strerror(number) in reason for number in (errno.ENOSPC, errno.EDQUOT))


def _pieces(work: list[Work]) -> list[Piece]:
    return [piece for part in work for piece in pieces(part.results.experiment, part.runs)]


def _note(outcome: Outcome, run: Run, statistics: RunStatistics, log_file: Entry) -> Path | None:
    """Add a run to the outcome; return the log of a failed run."""
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

    The iterator stops temporarily before a run that could exceed a budget, while active runs may need less than
    reserved. When these are over, it stops finally.
    """

    def __init__(
        self, tasks: Iterator[Task], todo: list[tuple[ResultsDirectory, Run]], limits: dict[Path, list[Budget]]
    ) -> None:
        self._tasks = tasks
        self._todo = todo
        self._limits = limits
        self._next: Task | None = None
        self.refusal = ""
        """Reason why the rest does not begin."""

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
    todo: list[tuple[ResultsDirectory, Run]], executors: Mapping[Path, Executor], base: Path
) -> Iterator[Task]:
    """Yield the tasks of runs, with places below `base`; `executors` are those of the results directories."""
    run_levels = levels().of_runs()
    for place, (results, run) in enumerate(todo):
        yield Task(
            number=place,
            label=run.label,
            executor=executors[results.directory],
            identity={"scheme": run.scheme, "path": run.path, "run": run.run, "seed": run.seed},
            specification=results.experiment.specification(run),
            outside=tuple(f"{scheme.name} ({scheme.code})" for scheme in results.experiment.outside(run)),
            out=base / results.directory,
            temporary=base / results.unfinished.path / str(place),
            final=base / results.folder(run).path,
            levels=run_levels,
        )


QUICK_S = 0.25
"""Duration of a run, s, below which its process gets the next run in advance: the exchange would cost more than idle
time at the end."""
SILENCE_S = 90
"""Maximum silence of a process with plug-ins, s. Beats count as signs of life. A plug-in may take 60 s to make its
state."""
LOOK_S = 1.0
"""Interval of checks for silent processes, s."""
PROCESSES = 64
"""Maximum number of processes that a process with plug-ins may start."""
PROCESSES_OF_PROGRAMS = 1000
"""Maximum number of processes if programs run beside plug-ins with real packets."""
LEAST_MEMORY_BYTES = 2 * 2**30
"""Memory that each process with plug-ins may take at least, bytes, whatever their number."""


@dataclass
class _Worker(ConnectedProcess):
    inbox: Inbox
    bounds: Bounds | None
    """Bounds of a process that executes plug-ins; else None."""
    waiting: dict[int, Task] = field(default_factory=dict)
    """Tasks handed out and not made yet, in order."""
    unpublished: dict[int, Task] = field(default_factory=dict)
    """Tasks made and not durable yet."""
    seconds: dict[int, float] = field(default_factory=dict)
    """Durations of the made tasks, s."""
    is_quick: bool = False
    silent_s: float = 0.0

    @property
    def has_room(self) -> bool:
        """True if the process should get another task now."""
        return len(self.waiting) <= self.is_quick and len(self.unpublished) <= PUBLISHING

    def give(self, task: Task) -> None:
        """Send a task to the process. If it has just died, the end of the connection follows."""
        with contextlib.suppress(OSError):
            self.connection.send(task)

    def end(self, within_s: float) -> int:
        """End the process with all its descendants, if it does not end by itself; return its exit code."""
        self.process.join(within_s)
        end_connected([self])
        return self.process.exitcode or 0


class Pool:
    """Worker processes that survive each other: if one dies, only its run fails, and it is replaced.

    A plug-in that has ended a process is not executed again in that stage. Between stages workers wait.
    """

    executor: Executor
    folder: Path

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.started = 0
        """Number of workers that stages have started or reused."""
        self._has_plugins = False
        self._clock = clock
        self._memory_bytes = 0
        self._ended: dict[frozenset[str], str] = {}
        """Plug-ins that have ended a process, with the label of the run; several if the culprit is unknown."""
        self._skipped: deque[TaskOutcome] = deque()
        self.workers: list[_Worker] = []
        """Workers of the stage."""
        self._waiting: list[_Worker] = []
        """Workers without work until a stage of their kind begins."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with Uninterrupted() as cleaning:
            self._end()
        if cleaning.was_interrupted:
            raise KeyboardInterrupt

    def begin(self, executor: Executor, count: int, folder: Path, has_plugins: bool) -> None:
        """Begin a stage with `count` workers. Their last words and the output of plug-ins go into `folder`."""
        if self._waiting and (self.executor, self._has_plugins) != (executor, has_plugins):
            self._end()
        self.executor, self.folder, self._has_plugins = executor, folder, has_plugins
        with contextlib.suppress(OSError):  # without the folder, the runs fail with a message
            folder.mkdir(parents=True, exist_ok=True)
        self._memory_bytes = max(LEAST_MEMORY_BYTES, machine_memory_bytes() * 3 // 4 // max(1, count))
        self._ended.clear()
        for _ in range(count):
            self.workers.append(self._reused_worker() or self._start())

    def _reused_worker(self) -> _Worker | None:
        """Return a worker of an earlier stage, which receives its new bounds; None if there is none."""
        while self._waiting:
            worker = self._waiting.pop()
            if worker.process.is_alive():
                fresh = _Worker(worker.process, worker.connection, worker.inbox, self._bounds())
                if fresh.bounds is not None:
                    with contextlib.suppress(OSError):  # a dead worker is found at the end of its connection
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
        max_processes = PROCESSES_OF_PROGRAMS if self.executor.backend.capabilities.real_packets else PROCESSES
        return Bounds(words, output, max_processes, self._memory_bytes)

    def _start(self) -> _Worker:
        bounds = self._bounds()
        token = os.urandom(TOKEN_BYTES)
        process, connection = start_connected(serve, Post(self.executor, token, bounds))
        log.info("a process that makes runs has started pid=%s plug-ins=%s", process.pid, self._has_plugins)
        return _Worker(process, connection, Inbox(connection, token), bounds)

    @property
    def side_by_side(self) -> int:
        """Number of simultaneous runs."""
        return len(self.workers)

    def map(self, tasks: Iterator[Task], stage: RunListener) -> Iterator[tuple[int, RunStatistics, float | None]]:
        """Execute the tasks; yield number, statistics and seconds of each in the order in which they finish.

        `stage` receives their events.
        """
        for worker in self.workers:
            self._hand_out(worker, tasks, stage)
        while True:
            while self._skipped:
                outcome = self._skipped.popleft()
                yield outcome.number, outcome.statistics, None
            busy = {worker.connection: worker for worker in self.workers if worker.waiting or worker.unpublished}
            if not busy:
                return
            for worker in self._ready(busy):
                for outcome in self._hear(worker, stage):
                    yield outcome.number, outcome.statistics, worker.seconds.pop(outcome.number, None)
                self._hand_out(worker, tasks, stage)

    def _ready(self, busy: dict[Connection, _Worker]) -> list[_Worker]:
        """Return the workers with messages, and those that were silent for too long."""
        began = self._clock.monotonic()
        ready = self._clock.wait(lambda within_s: wait(list(busy), within_s), LOOK_S if self._has_plugins else None)
        # after a stop of this process, the elapsed time says nothing about the others
        waited_s = min(self._clock.monotonic() - began, LOOK_S)
        for connection, worker in busy.items():
            worker.silent_s = 0.0 if connection in ready else worker.silent_s + waited_s
        return [worker for connection, worker in busy.items() if connection in ready or worker.silent_s > SILENCE_S]

    def _hear(self, worker: _Worker, stage: RunListener) -> list[TaskOutcome]:
        """Process the messages of a worker; return the finished runs."""
        if worker.silent_s > SILENCE_S:
            return self._replace(worker, f"has told nothing for {SILENCE_S} s")
        over: list[TaskOutcome] = []
        try:
            for message in map(read_message, worker.inbox.take()):
                if isinstance(message, RunEvent):
                    stage.say(message.number, message.text, message.stands_still)
                elif isinstance(message, RunMade):
                    worker.unpublished[message.number] = worker.waiting.pop(message.number)
                    worker.is_quick = message.seconds < QUICK_S
                    worker.seconds[message.number] = message.seconds
                    if worker.waiting:
                        stage.begin(next(iter(worker.waiting)))
                elif isinstance(message, TaskOutcome):
                    del worker.unpublished[message.number]
                    over.append(message)
        except EOFError:
            over += self._replace(worker)
        except GarbledMessage as error:
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
        """Return the next task that is not skipped."""
        for task in tasks:
            if not self._skips(task):
                return task
        return None

    def _skips(self, task: Task) -> bool:
        """Return True if plug-ins of the task have ended a process before. Then the run of the task has failed."""
        culprits = next((names for names in self._ended if names.issubset(task.outside)), None)
        if culprits is not None:
            reason = f"{NOT_RUN}{' or '.join(sorted(culprits))} ended the process of {self._ended[culprits]}"
            self._skipped.append(TaskOutcome(task.number, keep(task, failed(task, reason))))
        return culprits is not None

    def _replace(self, worker: _Worker, deed: str = "") -> list[TaskOutcome]:
        """Replace a process that died, or that was ended for its `deed`.

        Its active run fails; a new process makes the others.
        """
        code, pid = worker.end(0.0 if deed else LET_GO_S), worker.process.pid
        bounds, waiting, made_tasks = worker.bounds, list(worker.waiting.values()), list(worker.unpublished.values())
        fresh = self._start()
        worker.process, worker.connection, worker.inbox, worker.bounds = (
            fresh.process,
            fresh.connection,
            fresh.inbox,
            fresh.bounds,
        )
        worker.silent_s = 0.0
        # without an active run, the process broke something that the unpublished runs need
        culprits, again = (waiting[:1], made_tasks) if waiting or not bounds else (made_tasks, [])
        over: list[TaskOutcome] = []
        output = take_output(bounds)
        log.info(
            "a process that makes runs has ended pid=%s exit=%s runs=%d; another one takes its place",
            pid,
            code,
            len(again),
        )
        for culprit in culprits:
            reason = cause_of_death(code, bounds.last_words if bounds else None, culprit.outside, deed)
            add_to_log(culprit, output)
            over.append(TaskOutcome(culprit.number, keep(culprit, failed(culprit, reason))))
            suspects = [plugin for plugin in culprit.outside if f"scheme {plugin.removesuffix(')')}" in reason]
            if culprit.outside:
                self._ended[frozenset(suspects or culprit.outside)] = culprit.label
        again += [task for task in waiting[1:] if not self._skips(task)]
        worker.unpublished, worker.waiting = {}, {task.number: task for task in again}
        for task in again:
            task.unfinished.clear(ignore_errors=True)
            worker.give(task)
        return over

    def stop(self) -> None:
        """End the stage. All workers end if one still makes runs, or if the backend has real packets."""
        is_over = not (self._skipped or any(worker.waiting or worker.unpublished for worker in self.workers))
        self._waiting += self.workers
        self.workers = []
        if not is_over or self.executor.backend.capabilities.real_packets:
            self._end()

    def _end(self) -> None:
        """End all workers at once."""
        end_connected([*self.workers, *self._waiting])
        self.workers, self._waiting = [], []
        self._skipped.clear()
