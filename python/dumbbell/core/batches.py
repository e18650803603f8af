"""Batches of simulated runs of which only the numbers are kept."""

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
    """Runs of a batch that differ in seed and starts only: their path, their scheme or mix, one specification.

    `folder` is the place of the folder of their tables among those of the batch.
    """

    folder: int
    path: str
    scheme: str
    specification: Specification


@dataclass(frozen=True)
class BatchRun:
    """One run of a batch: the place of its template, its repetition, its seed, and when each flow starts, s."""

    template: int
    run: int
    seed: int
    starts_s: list[float]


@dataclass(frozen=True)
class BatchOutcome:
    """Places of the runs of a batch that were made; of those that failed, the reasons.

    `interruption` is what a signal handler raised meanwhile: Ctrl-C.
    """

    made: list[int]
    failures: dict[int, str]
    interruption: BaseException | None


def simulate_batch(
    templates: Sequence[Template],
    runs: Sequence[BatchRun],
    folders: Sequence[Path],
    started_at: str,
    threads: int,
    seconds: float,
    told: Callable[[int], object] | None = None,
) -> BatchOutcome:
    """Simulate runs in their order on several threads, for some seconds, and write their numbers into folders.

    Nothing is written into a folder of which no run was made. `told` is called now and then with the number of runs
    that are made.

    Raises:
        Error: a specification is not allowed, or a file cannot be written.
    """
    given = [(each.folder, each.path, each.scheme, encoded(each.specification)) for each in templates]
    wanted = [(each.template, each.run, each.seed, each.starts_s) for each in runs]
    places = [str(folder) for folder in folders]
    made, failures, raised = _core.simulate_batch(given, wanted, places, started_at, (threads, seconds), told)
    return BatchOutcome(made, dict(failures), raised)


@dataclass(frozen=True)
class MadeRun:
    """A run that was made elsewhere: the place of the folder of its tables, what run it is, and its statistics.

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
        OSError: a file cannot be written.
    """
    rows: list[tuple[int, str, str, int, int, object, str | None]] = [
        (each.folder, each.path, each.scheme, each.run, each.seed, each.statistics, each.failure) for each in runs
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
            Error: one cannot be read, is damaged, or does not belong to the others.
        """
        self._batch, self._file = _core.NumberBatch(runs, flows, links), runs

    def statistics(self, row: int) -> object:
        """Return the statistics of the run in a row, with what says which run it is.

        Raises:
            Error: the row is damaged.
        """
        text = self._batch.statistics(row)
        try:
            return decoded(text, object)
        except (ValueError, RecursionError):  # anybody may have written the table
            raise _core.Error(f"{self._file}: is damaged: row {row} is not that of a run") from None


def read_numbers(file: Log, names: Sequence[str] | None = None) -> Table:
    """Return a table of a batch: all its columns, or those of the given names that it has.

    Raises:
        Error: the file cannot be read, or is damaged.
    """
    return _core.read_numbers(file, None if names is None else list(names))


def number_names(file: Log) -> list[str]:
    """Return the names of the columns of numbers of a table of a batch.

    Raises:
        Error: the file cannot be read, or is damaged.
    """
    return _core.number_names(file)
