"""Budgets of runs for a disk, and for a link that other people use. No run begins that could exceed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError
from dumbbell.execution.estimate import carried_packets
from dumbbell.experiment import Experiment, Run
from dumbbell.results import INDEX, ResultsDirectory
from dumbbell.results.directory import STATISTICS

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics

LARGER = 1.25
"""Factor between the largest run of a scheme so far and the expected need of the next one."""

_KEPT_BYTES = 100_000
"""Size of a run without packets, bytes: statistics, samples, its rows in the database."""

_EMPTY_INDEX_BYTES = 110_000
_INDEXED = 2.0
"""Ratio of a run's size in the database to its statistics. The journal of the database is temporary."""

_PER_PACKET_BYTES = {"none": 0.0, "packets": 25.0, "full": 60.0}
"""Size of a packet on disk, bytes, by packet log. Times of real packets compress less than simulated ones."""


@dataclass
class Budget:
    """An amount of bytes. Bytes that active runs may use are reserved."""

    name: str
    limit: int
    guess: Callable[[Run], int]
    """Function that estimates the need of a run of a new scheme, bytes."""
    measure: Callable[[Run, RunStatistics], int | None]
    """Function that returns the use of a run, bytes; None if unknown."""
    beside: Callable[[], int] = lambda: 0
    """Function that returns the use by other files than runs, bytes."""
    used: int = 0
    largest: dict[str, int] = field(default_factory=dict)
    aside: dict[Run, int] = field(default_factory=dict)

    def refusal(self, run: Run) -> str:
        """Return the reason why a run may not begin; empty if it may."""
        need = self.need(run)
        used = self.used + self.beside() + sum(self.aside.values())
        if used + need > self.limit:
            left = f"{in_words(used)} are used, and {run.label} may take {in_words(need)}"
            return f"{self.name} of {in_words(self.limit)}: {left}"
        return ""

    def begin(self, run: Run) -> None:
        """Reserve the possible need of a run that begins."""
        self.aside[run] = self.need(run)

    def need(self, run: Run) -> int:
        """Return the maximum expected use of a run, bytes."""
        largest = self.largest.get(run.scheme)
        return self.guess(run) if largest is None else int(largest * LARGER)

    def finish(self, run: Run, statistics: RunStatistics) -> None:
        """Record the use of a finished run: the measured one, else the reserved one."""
        measured_bytes = self.measure(run, statistics)
        aside = self.aside.pop(run, None)
        if measured_bytes is not None:
            self.largest[run.scheme] = max(self.largest.get(run.scheme, 0), measured_bytes)
        self.used += measured_bytes if measured_bytes is not None else self.need(run) if aside is None else aside


def budgets(results: ResultsDirectory) -> list[Budget]:
    """Return the budgets of an experiment, with the use by its results so far."""
    all_budgets = [*_disk(results), *_data(results)]
    for run, statistics in _made(results) if all_budgets else ():
        for budget in all_budgets:
            budget.finish(run, statistics)
    return all_budgets


def _disk(results: ResultsDirectory) -> Iterator[Budget]:
    experiment = results.experiment
    if experiment.disk_quota_bytes is None:
        return

    def guess(run: Run) -> int:
        packets = _packets(experiment, run)
        return _KEPT_BYTES + int(packets * _PER_PACKET_BYTES[experiment.log])

    def measure(run: Run, _: RunStatistics) -> int:
        folder = results.folder(run)
        statistics = folder / STATISTICS
        status = statistics.status()
        return size_of(folder.path) + (int(_INDEXED * status.st_size) if status is not None else 0)

    def beside() -> int:
        files = (file for file in results.directory.iterdir() if file.is_file() and not file.name.startswith(INDEX))
        return _EMPTY_INDEX_BYTES + sum(file.stat().st_size for file in files)

    yield Budget("disk quota", experiment.disk_quota_bytes, guess, measure, beside)


def _data(results: ResultsDirectory) -> Iterator[Budget]:
    experiment = results.experiment
    if experiment.data_cap_bytes is None or experiment.bandwidth_cap_mbps is None:
        return
    run_bytes = int(experiment.bandwidth_cap_mbps * 1e6 / 8 * experiment.duration_s)
    yield Budget("data cap", experiment.data_cap_bytes, lambda _: run_bytes, lambda _, statistics: _sent(statistics))


def _packets(experiment: Experiment, run: Run) -> float:
    return carried_packets(experiment.paths[run.path], experiment.specification(run))


def _made(results: ResultsDirectory) -> Iterator[tuple[Run, RunStatistics]]:
    for run in results.planned():
        try:
            statistics = results.statistics(run)
        except UserError:
            continue
        if statistics is not None:
            yield run, statistics


def _sent(statistics: RunStatistics) -> int | None:
    """Return the bytes sent by the flows of a run, with overhead; None without numbers."""
    counts = [flow.get("bytes_sent") for flow in statistics["flows"]]
    known_counts = [count for count in counts if isinstance(count, int)]
    return sum(known_counts) if known_counts and len(known_counts) == len(counts) else None


def size_of(folder: Path) -> int:
    """Return the size of all files below a folder, bytes."""
    total = 0
    for file in folder.rglob("*"):
        total += file.lstat().st_size if file.is_file() else 0
    return total


def in_words(size: int) -> str:
    """Return a size as text for people: `10 GB`, `1.3 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"
