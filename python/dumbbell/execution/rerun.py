"""Repetition of a run with all its files, for the packet log of a run that kept only its numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.backends import find_executor
from dumbbell.base.errors import UserError, argument, one_line
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Piece, Progress
from dumbbell.execution.check import check
from dumbbell.execution.estimate import START_S
from dumbbell.execution.pool import RUNS, Pool, tasks_of
from dumbbell.execution.worker import execute
from dumbbell.results import ResultsDirectory
from dumbbell.results.directory import STATISTICS, locked
from dumbbell.results.files import publish
from dumbbell.results.series.run_files import kept_files

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.execution.worker import Task
    from dumbbell.experiment import Run

_REPEATED = ("flows", "links", "network")
"""Statistics that are equal in every repetition of a run."""


def rerun(results: ResultsDirectory, run: Run, log: str | None) -> None:
    """Make a run again from its seed, with all its files. `log` is its packet log; None keeps the former one.

    The new numbers must equal the stored ones, to the last digit.

    Raises:
        UserError: If the run has its files, is not repeatable, fails, or gives other numbers. Nothing is stored then.
    """
    experiment = results.experiment
    if not (experiment.capabilities.repeatable and experiment.capabilities.executes):
        raise UserError(f"backend `{experiment.backend}`: no run can be made again: each is another one")
    old_statistics = results.numbers.statistics(run) if experiment.keeps_numbers else results.statistics(run)
    if old_statistics is None:
        raise UserError(f"{run.label}: was not made yet", fix=f"{argument('resume', 'True')} makes it")
    if _has_files(results, run):
        raise UserError(f"{results.folder(run)}: has the files of this run: nothing to make again")
    if log is not None:
        experiment = replace(experiment, log=log)
    check(experiment)
    with locked(results.directory), interruptible():
        executors = {results.directory: find_executor(experiment)}
        again = ResultsDirectory(results.directory, experiment)
        (task,) = tasks_of([(again, run)], executors, Path.cwd())
        results.unfinished.clear(ignore_errors=True)
        try:
            # made in another place until its numbers are verified
            new_task = replace(task, final=task.temporary.with_name("again"))
            statistics = _make_apart(new_task) if experiment.outside(run) else execute(new_task)
            if statistics["status"] == "failed":
                raise UserError(f"{run.label}: {statistics.get('reason')}")
            if differs := _difference(old_statistics, statistics):
                problem = f"{run.label}: comes out with another `{differs}` than was kept"
                raise UserError(problem, fix="`environment.json` says which version made the runs")
            publish(new_task.place, task.place)
        except OSError as error:
            raise UserError(f"{run.label}: {one_line(error)}") from None
        finally:
            results.unfinished.clear(ignore_errors=True)


def _make_apart(task: Task) -> RunStatistics:
    """Make a run with plug-ins in its own process; return its statistics."""
    with Progress() as progress, Pool(progress.clock) as pool:
        stage = progress.expect(RUNS, [Piece(task.label, START_S)])
        pool.begin(task.executor, 1, task.temporary.with_name("last-words"), has_plugins=True)
        return next(statistics for _, statistics, _ in pool.map(iter([task]), stage))


def _has_files(results: ResultsDirectory, run: Run) -> bool:
    """Return True if the files of a run exist unchanged."""
    folder = results.folder(run)
    try:
        return bool(kept_files(folder)) and (folder / STATISTICS).is_file() and results.is_finished(run)
    except UserError:
        return False


def _difference(old_statistics: RunStatistics, again: RunStatistics) -> str:
    """Return the name of a statistic that differs; empty if none does."""
    if old_statistics["status"] == "failed":
        return ""
    return next((key for key in _REPEATED if old_statistics.get(key) != again.get(key)), "")
