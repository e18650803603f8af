"""Executes experiments: spreads their runs over processes and records each when it is finished."""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from dumbbell import backends
from dumbbell.backends import Executor
from dumbbell.execution.budget import Budget, budgets
from dumbbell.execution.cluster import Cluster
from dumbbell.execution.estimate import START_S, pieces
from dumbbell.execution.interrupts import Undisturbed
from dumbbell.execution.processes import Connected, cause_of_death, end_connected, start_connected
from dumbbell.execution.worker import PUBLISHING, Done, Made, Said, Task, failed, keep, serve
from dumbbell.experiment import Run
from dumbbell.progress import Piece, Progress, Stage
from dumbbell.results import Gathering, Recording, ResultsDirectory
from dumbbell.results.files import remove_left, require_beneath

RUNS = "runs"
"""What the stage of executing them is called."""


@dataclass
class Outcome:
    """What became of an experiment."""

    finished: int = 0
    failed: list[tuple[Run, str]] = field(default_factory=list)
    degraded: list[tuple[Run, str]] = field(default_factory=list)
    interrupted: bool = False
    full: str = ""
    """Why the rest was not tried: what was said of the disk that is full, or what may not be used up."""
    missed: list[str] = field(default_factory=list)
    """Rounds of a campaign that were not made at their time, and why."""
    unrecorded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Work:
    """What is to be executed of one experiment."""

    results: ResultsDirectory
    runs: list[Run]


Tell = Callable[[Run, dict[str, Any]], None]
"""Is told of every run that was made, with its statistics, as soon as it is durable."""


def execute(
    work: list[Work],
    jobs: int,
    progress: Progress,
    cluster: str | None = None,
    gathering: Gathering | None = None,
    tell: Tell = lambda *_: None,
) -> Outcome:
    """Executes experiments of one backend on `jobs` processes, or on a Dask cluster, with no pause between them.

    Ctrl-C stops at once; what is finished stays. `gathering` is a database for all of them. Before a run begins that
    could use up too much, it stops.
    """
    for part in work:
        require_beneath(part.results.directory, part.results.unfinished)
    outcome = Outcome()
    backend = backends.require(work[0].results.experiment.backend)
    todo = [(part.results, run) for part in work for run in part.runs]
    limits = {part.results.directory: budgets(part.results) for part in work}
    recording = Recording([part.results for part in work], gathering)
    outcome.unrecorded = recording.failures
    try:
        for part in work:
            remove_left(part.results.directory)
            shutil.rmtree(part.results.unfinished, ignore_errors=True)
        pool: Pool | Cluster | None = None
        try:
            place = work[0].results.unfinished
            jobs = min(jobs, len(todo))
            pool = Pool(backend, jobs, place / "last-words") if cluster is None else Cluster(cluster, backend)
            stage = progress.expect(RUNS, _pieces(work), pool.side_by_side, START_S)
            tasks = _Tasks(_tasks(todo, backend), todo, limits)
            for done, statistics, seconds in pool.map(tasks, stage):
                results, run = todo[done]
                for budget in limits[results.directory]:
                    budget.made(run, statistics)
                recording.record(results, results.complete(run, statistics))
                _note(outcome, run, statistics)
                stage.step(done, statistics["status"], statistics["reason"], seconds)
                tell(run, statistics)
                if _tells_of_full_disk(statistics["reason"]):
                    outcome.interrupted, outcome.full = True, statistics["reason"]
                    break
            else:
                outcome.interrupted, outcome.full = bool(tasks.refusal), tasks.refusal
        except KeyboardInterrupt:
            outcome.interrupted = True
        finally:
            progress.doing("finishing")
            with Undisturbed() as cleaning:
                if pool is not None:
                    pool.stop()
                backend.clean_up()
            outcome.interrupted |= cleaning.was_interrupted
    finally:
        with Undisturbed() as cleaning:
            recording.close()
            for part in work:
                shutil.rmtree(part.results.unfinished, ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def _tells_of_full_disk(reason: str | None) -> bool:
    """Whether a run failed for want of space: so would the others, after all the time that they take."""
    return reason is not None and any(os.strerror(number) in reason for number in (errno.ENOSPC, errno.EDQUOT))


def _pieces(work: list[Work]) -> list[Piece]:
    return [piece for part in work for piece in pieces(part.results.experiment, part.runs)]


def _note(outcome: Outcome, run: Run, statistics: dict[str, Any]) -> None:
    status, reason = statistics["status"], statistics["reason"]
    if status == "done":
        outcome.finished += 1
    elif status == "degraded":
        outcome.degraded.append((run, reason))
    else:
        outcome.failed.append((run, reason if status == "failed" else f"{status}: {reason}"))


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


def _tasks(todo: list[tuple[ResultsDirectory, Run]], backend: Executor) -> Iterator[Task]:
    for place, (results, run) in enumerate(todo):
        yield Task(
            number=place,
            label=run.label,
            backend=backend,
            identity={"scheme": run.scheme, "path": run.path, "run": run.run, "seed": run.seed},
            specification=json.dumps(results.experiment.specification(run)),
            outside=tuple(f"{scheme.name} ({scheme.code})" for scheme in results.experiment.outside(run)),
            out=results.directory,
            temporary=results.unfinished / str(place),
            final=results.folder(run),
        )


QUICK_S = 0.25
"""A process whose runs take less has the next one waiting: to ask for it would cost more than idleness at the end."""


@dataclass
class _Worker(Connected):
    last_words: Path
    """Where a plug-in that ends the process is named."""
    waiting: dict[int, Task] = field(default_factory=dict)
    """Handed out and not made yet, in the order in which they are made."""
    kept: dict[int, Task] = field(default_factory=dict)
    """Made and not durable yet."""
    seconds: dict[int, float] = field(default_factory=dict)
    """What these took."""
    is_quick: bool = False

    @property
    def has_room(self) -> bool:
        """Whether it should get another task now."""
        return len(self.waiting) <= self.is_quick and len(self.kept) <= PUBLISHING

    def give(self, task: Task) -> None:
        """Sends it a task; where it has just died, the end of the connection is what comes next."""
        with contextlib.suppress(OSError):
            self.connection.send(task)


class Pool:
    """Worker processes that survive each other: one that dies fails its run only, and is replaced."""

    def __init__(self, backend: Executor, count: int, folder: Path) -> None:
        """Starts `count` processes; what they say as they end goes into `folder`."""
        self.backend = backend
        self.folder = folder
        with contextlib.suppress(OSError):  # without it runs say themselves that nothing can be written
            folder.mkdir(parents=True, exist_ok=True)
        self.started = 0
        self.workers: list[_Worker] = []
        try:
            for _ in range(count):
                self.workers.append(self._start())
        except BaseException:
            self.stop()
            raise

    def _start(self) -> _Worker:
        self.started += 1
        last_words = self.folder / str(self.started)
        return _Worker(*start_connected(serve, self.backend, last_words), last_words)

    @property
    def side_by_side(self) -> int:
        """How many runs go on at once."""
        return len(self.workers)

    def map(self, tasks: Iterator[Task], stage: Stage) -> Iterator[tuple[int, dict[str, Any], float | None]]:
        """Executes the tasks; yields number, statistics and seconds of each in the order in which they finish.

        `stage` is told what happens to them.
        """
        for worker in self.workers:
            self._hand_out(worker, tasks, stage)
        while busy := {worker.connection: worker for worker in self.workers if worker.waiting or worker.kept}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # only connections were given
                try:
                    message = worker.connection.recv()
                except (EOFError, OSError):
                    message = self._replace(worker)
                if isinstance(message, Said):
                    stage.say(message.number, message.text, message.stands_still)
                    continue
                if isinstance(message, Made):
                    worker.kept[message.number] = worker.waiting.pop(message.number)
                    worker.is_quick = message.seconds < QUICK_S
                    worker.seconds[message.number] = message.seconds
                    if worker.waiting:
                        stage.begin(next(iter(worker.waiting)))
                elif message is not None:
                    worker.kept.pop(message.number, None)
                    yield message.number, message.statistics, worker.seconds.pop(message.number, None)
                self._hand_out(worker, tasks, stage)

    @staticmethod
    def _hand_out(worker: _Worker, tasks: Iterator[Task], stage: Stage) -> None:
        while worker.has_room and (task := next(tasks, None)) is not None:
            if not worker.waiting:
                stage.begin(task.number)
            worker.waiting[task.number] = task
            worker.give(task)

    def _replace(self, worker: _Worker) -> Done | None:
        """Replaces a process that died. The run it was making failed; its other tasks are given to the new one."""
        worker.process.join()
        code, last_words = worker.process.exitcode or 0, worker.last_words
        fresh = self._start()
        worker.process, worker.connection, worker.last_words = fresh.process, fresh.connection, fresh.last_words
        culprit = next(iter(worker.waiting.values()), None)
        again = [*worker.kept.values(), *list(worker.waiting.values())[1:]]
        worker.kept, worker.waiting = {}, {task.number: task for task in again}
        for task in again:
            shutil.rmtree(task.temporary, ignore_errors=True)
            worker.give(task)
        if culprit is None:
            return None
        reason = cause_of_death(code, last_words, culprit.outside)
        return Done(culprit.number, keep(culprit, failed(culprit, [culprit.label], reason)))

    def stop(self) -> None:
        """Ends all workers, at once."""
        end_connected(self.workers)
