"""Batches of simulated runs that keep only their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.core.codec import Specification, decoded, encoded

if TYPE_CHECKING:
    from dumbbell._core import Log, Table

TABLES = ("runs", "flows", "links")
"""Tables of a batch, each a Parquet file in its folder."""


@dataclass(frozen=True)
class Template:
    """Runs of a batch that differ in seed and starts only: their path, their scheme or mix, one run spec.

    `folder` is the index of the folder for their tables among those of the batch.
    """

    folder: int
    path: str
    scheme: str
    specification: Specification


@dataclass(frozen=True)
class BatchRun:
    """A run of a batch: the index of its template, its repetition, its seed, and the start of each flow, s."""

    template: int
    run: int
    seed: int
    starts_s: list[float]


@dataclass(frozen=True)
class BatchOutcome:
    """Indices of the runs of a batch that were made, and the reasons of the failed ones.

    `interruption` is the exception of a signal handler during the batch: Ctrl-C.
    """

    finished_runs: list[int]
    failures: dict[int, str]
    interruption: BaseException | None


def simulate_batch(
    templates: Sequence[Template],
    runs: Sequence[BatchRun],
    folders: Sequence[Path],
    started_at: str,
    threads: int,
    seconds: float,
    report: Callable[[int], object] | None = None,
) -> BatchOutcome:
    """Simulate runs in their order on several threads, for some seconds, and write their numbers into folders.

    A folder without runs stays empty. `report` is called repeatedly with the number of
    finished runs.

    Raises:
        Error: If a run spec is not allowed, or a file cannot be written.
    """
    template_rows = [
        (template.folder, template.path, template.scheme, encoded(template.specification)) for template in templates
    ]
    run_rows = [(run.template, run.run, run.seed, run.starts_s) for run in runs]
    places = [str(folder) for folder in folders]
    run_indices, failures, interruption = _core.simulate_batch(
        template_rows, run_rows, places, started_at, (threads, seconds), report
    )
    return BatchOutcome(run_indices, dict(failures), interruption)


@dataclass(frozen=True)
class MadeRun:
    """A run that was made elsewhere: the index of the folder for its tables, its identity, and its statistics.

    `failure` is the reason if it failed.
    """

    folder: int
    path: str
    scheme: str
    run: int
    seed: int
    statistics: Mapping[str, object]
    failure: str | None


def write_numbers(runs: Sequence[MadeRun], folders: Sequence[Path], started_at: str) -> None:
    """Write the numbers of runs that were made elsewhere into folders, as `simulate_batch` does.

    Raises:
        OSError: If a file cannot be written.
    """
    rows: list[tuple[int, str, str, int, int, object, str | None]] = [
        (run.folder, run.path, run.scheme, run.run, run.seed, run.statistics, run.failure) for run in runs
    ]
    try:
        _core.write_numbers(rows, [str(folder) for folder in folders], started_at)
    except _core.Error as error:  # a full disk
        raise OSError(str(error)) from None


class NumberBatch:
    """Numbers of the runs of one batch, read back from its tables."""

    def __init__(self, runs: Log, flows: Log, links: Log) -> None:
        """Read the tables.

        Raises:
            Error: If a table cannot be read, is damaged, or does not belong to the others.
        """
        self._batch, self._file = _core.NumberBatch(runs, flows, links), runs

    def statistics(self, row: int) -> object:
        """Return the statistics of the run in a row, with the identity of the run.

        Raises:
            Error: If the row is damaged.
        """
        text = self._batch.statistics(row)
        try:
            return decoded(text, object)
        except (ValueError, RecursionError):  # anybody may have written the table
            raise _core.Error(f"{self._file}: is damaged: row {row} is not that of a run") from None


def read_numbers(file: Log, names: Sequence[str] | None = None) -> Table:
    """Return a table of a batch: all its columns, or those of the given names that it has.

    Raises:
        Error: If the file cannot be read, or is damaged.
    """
    return _core.read_numbers(file, None if names is None else list(names))


def number_names(file: Log) -> list[str]:
    """Return the names of the columns of numbers of a table of a batch.

    Raises:
        Error: If the file cannot be read, or is damaged.
    """
    return _core.number_names(file)
