"""What runs may use up together: of a disk, and of a link that others use. None begins that could use too much."""

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
"""How much more than the largest one of its scheme the next run is taken to need."""

_KEPT_BYTES = 100_000
"""What a run without packets keeps: statistics, samples, its rows in the database."""

_EMPTY_INDEX_BYTES = 110_000
_INDEXED = 2.0
"""What the database takes of itself, and of each run: so many times its statistics. Its journal comes and goes."""

_PER_PACKET_BYTES = {"none": 0.0, "packets": 25.0, "full": 60.0}
"""What packets take on disk, by packet log: real ones, whose times are less alike than simulated ones."""


@dataclass
class Budget:
    """An amount of bytes. What runs that go on may use of it is set aside."""

    name: str
    most: int
    guess: Callable[[Run], int]
    """What a run needs of a scheme of which none has been made."""
    measure: Callable[[Run, RunStatistics], int | None]
    """What a run has used; `None` where nothing tells."""
    beside: Callable[[], int] = lambda: 0
    """What is used beside that of runs."""
    used: int = 0
    largest: dict[str, int] = field(default_factory=dict)
    aside: dict[Run, int] = field(default_factory=dict)

    def refusal(self, run: Run) -> str:
        """Why a run may not begin; nothing if it may."""
        need = self.need(run)
        used = self.used + self.beside() + sum(self.aside.values())
        if used + need > self.most:
            left = f"{in_words(used)} are used, and {run.label} may take {in_words(need)}"
            return f"{self.name} of {in_words(self.most)}: {left}"
        return ""

    def begin(self, run: Run) -> None:
        """A run begins: what it may need is set aside."""
        self.aside[run] = self.need(run)

    def need(self, run: Run) -> int:
        """What a run may use at most."""
        known = self.largest.get(run.scheme)
        return self.guess(run) if known is None else int(known * LARGER)

    def made(self, run: Run, statistics: RunStatistics) -> None:
        """A run was made: what it used is known now, or taken to be what was set aside."""
        measured = self.measure(run, statistics)
        aside = self.aside.pop(run, None)
        if measured is not None:
            self.largest[run.scheme] = max(self.largest.get(run.scheme, 0), measured)
        self.used += measured if measured is not None else self.need(run) if aside is None else aside


def budgets(results: ResultsDirectory) -> list[Budget]:
    """Those that an experiment has, with what its results have used already."""
    found = [*_disk(results), *_data(results)]
    for run, statistics in _made(results) if found else ():
        for budget in found:
            budget.made(run, statistics)
    return found


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
        found = statistics.status()
        return size_of(folder.path) + (int(_INDEXED * found.st_size) if found is not None else 0)

    def beside() -> int:
        files = (file for file in results.directory.iterdir() if file.is_file() and not file.name.startswith(INDEX))
        return _EMPTY_INDEX_BYTES + sum(file.stat().st_size for file in files)

    yield Budget("disk quota", experiment.disk_quota_bytes, guess, measure, beside)


def _data(results: ResultsDirectory) -> Iterator[Budget]:
    experiment = results.experiment
    if experiment.data_cap_bytes is None or experiment.bandwidth_cap_mbps is None:
        return
    most = int(experiment.bandwidth_cap_mbps * 1e6 / 8 * experiment.duration_s)
    yield Budget("data cap", experiment.data_cap_bytes, lambda _: most, lambda _, statistics: _sent(statistics))


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
    """Bytes that the flows of a run sent, overhead included; `None` where it has no numbers."""
    sent = [flow.get("bytes_sent") for flow in statistics["flows"]]
    known = [each for each in sent if isinstance(each, int)]
    return sum(known) if known and len(known) == len(sent) else None


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for file in folder.rglob("*"):
        total += file.lstat().st_size if file.is_file() else 0
    return total


def in_words(size: int) -> str:
    """A size as people say it: `10 GB`, `1.3 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"
