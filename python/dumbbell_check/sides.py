"""The two sides of a check: a scheme that runs, or kept earlier runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dumbbell.catalog.check_suite import JudgedMetric
from dumbbell.catalog.scheme import Scheme
from dumbbell_check.judging import Values

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.experiment import Run
    from dumbbell.results import ResultsDirectory
    from dumbbell_check.first_difference import SentLog

BASELINE, CANDIDATE = "baseline", "candidate"
"""Names of the sides, which their runs have, too."""


def first_seed(seed: int) -> int:
    """Return the seed of the experiments with packet logs, for a check with this seed."""
    return 2 * seed


def more_seed(seed: int) -> int:
    """Return the seed of the experiments with further runs, whose draws differ."""
    return 2 * seed + 1


@dataclass
class Observations:
    """Observations of one side's runs in one cell: quantities and digests by seed."""

    values: dict[str, dict[int, float]] = field(default_factory=dict)
    """Values of each quantity by its name."""
    logs: dict[int, str] = field(default_factory=dict)
    """SHA-256 of the packet logs, for runs with a log."""
    failures: list[str] = field(default_factory=list)
    """Reasons of failed runs, each with the number of the run."""
    _read_seeds: set[int] = field(default_factory=set)
    """Seeds of the runs that were read."""

    @property
    def runs(self) -> int:
        """Number of runs with at least one quantity."""
        return max(map(len, self.values.values()), default=0)

    def of(self, metric: JudgedMetric) -> Values:
        """Return the values of a quantity."""
        return self.values.get(metric.name, {})

    def take(
        self, results: ResultsDirectory, label: str, metrics: Sequence[JudgedMetric], path: str | None = None
    ) -> None:
        """Add the new runs of `label`, on `path` or on the only path."""
        for run in results.planned():
            if run.scheme == label and run.path == (path or run.path) and run.seed not in self._read_seeds:
                self.add(run, results.readable(run), metrics, results.experiment.duration_s)

    def add(self, run: Run, table: RunTable, metrics: Sequence[JudgedMetric], duration_s: float) -> None:
        """Add a run, unless it is missing or its numbers do not count."""
        if table["status"] == "missing":
            return
        self._read_seeds.add(run.seed)
        if table["status"] == "failed":
            self.failures.append(f"run {run.run}: {table['reason']}")
        if table["status"] != "done":
            return
        digest = (table.get("files") or {}).get("packets.parquet")
        if digest is not None:
            self.logs[run.seed] = str(digest["sha256"])
        for metric in metrics:
            value = quantity(metric, table, run.scheme, duration_s)
            if value is not None:
                self.values.setdefault(metric.name, {})[run.seed] = value

    @classmethod
    def merge(cls, parts: Iterable[Observations]) -> Observations:
        """Return the observations of several parts, whose runs have different seeds."""
        result = cls()
        for part in parts:
            result.logs |= part.logs
            result.failures += part.failures
            for name, values in part.values.items():
                result.values.setdefault(name, {}).update(values)
        return result


@dataclass(frozen=True)
class KeptCell:
    """Runs of a side in a cell: their path, a digest of everything that determines them, and the observations."""

    path: str
    digest: str
    observations: Observations


@dataclass(frozen=True)
class KeptRule:
    """Figures of a side in a safety case, by the number of the check, and the digest of the case."""

    figures: Mapping[str, float]
    digest: str


@dataclass(frozen=True)
class KeptRuns:
    """Earlier runs, by cell."""

    cells: Mapping[str, KeptCell]
    source: str
    made_by: str = ""
    """Version of dumbbell that made the runs."""
    scheme: str = ""
    """Name of the scheme."""
    transport: str = ""
    """Transport of the scheme, in words."""
    rules: Mapping[str, KeptRule] = field(default_factory=dict)
    """Figures by safety rule."""
    packets: Mapping[str, SentLog] | str = "the results of before keep no packets"
    """First packets of each cell's first run, by cell, or the reason why there are none."""

    def with_cells(
        self, cells: Mapping[str, KeptCell], rules: Mapping[str, KeptRule], packets: Mapping[str, SentLog]
    ) -> KeptRuns:
        """Return a copy in which the given cells, rules and packets replace those of the same names."""
        before = {} if isinstance(self.packets, str) else self.packets
        return replace(
            self, cells={**self.cells, **cells}, rules={**self.rules, **rules}, packets={**before, **packets}
        )


@dataclass(frozen=True)
class Side:
    """A side of a check: a `scheme` to run, or `kept_runs`."""

    name: str
    text: str
    scheme: Scheme | None = None
    kept_runs: KeptRuns | None = None

    @property
    def transport(self) -> str:
        """Transport of the side in words; empty if unknown."""
        if self.kept_runs is not None:
            return self.kept_runs.transport
        return self.scheme.transport_text if self.scheme else ""

    @property
    def as_run(self) -> Scheme:
        """Scheme under the name of the side, so that one run can contain two versions of a controller."""
        assert self.scheme is not None
        return replace(self.scheme, name=self.name, title=self.text, aliases=())


def quantity(metric: JudgedMetric, run: RunTable, label: str, duration_s: float) -> float | None:
    """Return a judged quantity of a run, of all flows of `label` or of the network; None if the run does not have it.

    An unfinished transfer counts as one that ended with the run.
    """
    if metric.of_network:
        raw_values = [run["network"].get(metric.metric)]
    else:
        raw_values = [flow.get(metric.metric) for flow in run["flows"] if flow.get("scheme") == label]
        if metric.name == "completion":
            raw_values = [duration_s if value is None else value for value in raw_values]
    values = [float(value) for value in raw_values if isinstance(value, (int, float)) and math.isfinite(value)]
    if not values or len(values) < len(raw_values):
        return None
    return metric.scale * math.fsum(values) / (1 if metric.total else len(values))
