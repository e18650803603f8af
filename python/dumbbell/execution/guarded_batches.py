"""Runs with plug-ins of which only the numbers are kept: each in a process of its own, all of a batch in its tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.backends import find_executor
from dumbbell.base.clock import now
from dumbbell.base.interrupts import Undisturbed
from dumbbell.core.batches import BatchOutcome, MadeRun, write_numbers
from dumbbell.execution.batches import BATCH_S
from dumbbell.execution.pool import Pool, tasks_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.execution.batches import Batch, Making
    from dumbbell.execution.worker import Task


def make_guarded(making: Making, jobs: int, pool: Pool) -> None:
    """Simulate runs on so many processes of `pool`, each run in a process of its own, one batch after the other.

    Raises:
        OSError: the tables cannot be written.
        KeyboardInterrupt: by Ctrl-C.
    """
    results = making.writes
    words = Path.cwd() / results.unfinished.path / "last-words"
    try:
        pool.begin(find_executor(results.experiment), jobs, words, has_plugins=True)
        for batch in making:
            _make(batch, making, pool)
    finally:
        with Undisturbed() as cleaning:
            pool.stop()
        if cleaning.was_interrupted:
            raise KeyboardInterrupt


def _make(batch: Batch, making: Making, pool: Pool) -> None:
    """Make runs of a batch for as long as a batch may take, and keep those that are made."""
    began, started_at = making.clock.monotonic(), now(making.clock)
    made: dict[int, RunStatistics] = {}
    interruption = None
    try:
        for place, statistics, _ in pool.map(_tasks(batch, making, began), making.parts):
            made[place] = statistics
            making.parts.reach(making.done + len(made))
    except KeyboardInterrupt as raised:
        interruption = raised
    with Undisturbed() as whole:
        folders = making.new_folders(batch)
        failures = {
            place: statistics.get("reason") or statistics["status"]
            for place, statistics in made.items()
            if statistics["status"] != "done"
        }
        rows = [_row(batch, place, made[place], failures.get(place)) for place in sorted(made)]
        write_numbers(rows, [folder.path for folder in folders], started_at)
        outcome = BatchOutcome(sorted(made), failures, None)
        making.keep(batch, outcome, folders, making.clock.monotonic() - began)
    if interruption is not None or whole.was_interrupted:
        raise interruption or KeyboardInterrupt


def _tasks(batch: Batch, making: Making, began_s: float) -> Iterator[Task]:
    """Yield the first run of a batch, and then others until its time is up."""
    executors = {results.directory: find_executor(results.experiment) for results in batch.results}
    for task in tasks_of(list(batch.planned), executors, Path.cwd()):
        if task.number and making.clock.monotonic() - began_s >= BATCH_S:
            return
        yield replace(task, keeps_files=False)


def _row(batch: Batch, place: int, statistics: RunStatistics, failure: str | None) -> MadeRun:
    """Return a run for the tables: what the core told of it, without what this package adds."""
    _, run = batch.planned[place]
    told = {key: value for key, value in statistics.items() if key not in ("backend", "status", "reason")}
    return MadeRun(batch.folder_of(place), run.path, run.scheme, run.run, run.seed, told, failure)
