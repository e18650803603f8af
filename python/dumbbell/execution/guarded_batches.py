"""Batches of runs with plug-ins that keep only their numbers: each run in its own process, each batch in its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.backends import find_executor
from dumbbell.base.clock import now
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.core.batches import BatchOutcome, MadeRun, write_numbers
from dumbbell.execution.batches import BATCH_S
from dumbbell.execution.pool import Pool, tasks_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.execution.batches import Batch, Making
    from dumbbell.execution.worker import Task


def make_guarded(making: Making, jobs: int, pool: Pool) -> None:
    """Simulate runs on `jobs` processes of `pool`, each run in its own process, one batch after the other.

    Raises:
        OSError: If the tables cannot be written.
        KeyboardInterrupt: On Ctrl-C.
    """
    results = making.writes
    words = Path.cwd() / results.unfinished.path / "last-words"
    try:
        pool.begin(find_executor(results.experiment), jobs, words, has_plugins=True)
        for batch in making:
            _make(batch, making, pool)
    finally:
        with Uninterrupted() as cleaning:
            pool.stop()
        if cleaning.was_interrupted:
            raise KeyboardInterrupt


def _make(batch: Batch, making: Making, pool: Pool) -> None:
    """Make runs of a batch during the time of a batch, and keep the finished ones."""
    began, started_at = making.clock.monotonic(), now(making.clock)
    statistics_of: dict[int, RunStatistics] = {}
    interruption = None
    try:
        for place, statistics, _ in pool.map(_tasks(batch, making, began), making.parts):
            statistics_of[place] = statistics
            making.parts.reach(making.done + len(statistics_of))
    except KeyboardInterrupt as interrupt:
        interruption = interrupt
    with Uninterrupted() as shield:
        folders = making.new_folders(batch)
        failures = {
            place: statistics.get("reason") or statistics["status"]
            for place, statistics in statistics_of.items()
            if statistics["status"] != "done"
        }
        rows = [_row(batch, place, statistics_of[place], failures.get(place)) for place in sorted(statistics_of)]
        write_numbers(rows, [folder.path for folder in folders], started_at)
        outcome = BatchOutcome(sorted(statistics_of), failures, None)
        making.keep(batch, outcome, folders, making.clock.monotonic() - began)
    if interruption is not None or shield.was_interrupted:
        raise interruption or KeyboardInterrupt


def _tasks(batch: Batch, making: Making, began_s: float) -> Iterator[Task]:
    """Yield the first run of a batch, and others until the time of the batch is over."""
    executors = {results.directory: find_executor(results.experiment) for results in batch.results}
    for task in tasks_of(list(batch.planned), executors, Path.cwd()):
        if task.number and making.clock.monotonic() - began_s >= BATCH_S:
            return
        yield replace(task, keeps_files=False)


def _row(batch: Batch, place: int, statistics: RunStatistics, failure: str | None) -> MadeRun:
    """Return a run for the tables: the core's statistics, without those that this package adds."""
    _, run = batch.planned[place]
    core_statistics = {key: value for key, value in statistics.items() if key not in ("backend", "status", "reason")}
    return MadeRun(batch.folder_of(place), run.path, run.scheme, run.run, run.seed, core_statistics, failure)
