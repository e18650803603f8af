"""The two sides of a check: a scheme that runs, or what was kept of runs of before."""

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
"""The names of the sides, under which their runs are kept."""


def first_seed(seed: int) -> int:
    """Return the seed of the experiments whose packets are logged, in a check with this seed."""
    return 2 * seed


def more_seed(seed: int) -> int:
    """Return the seed of the experiments with further runs, whose draws are others."""
    return 2 * seed + 1


@dataclass
class Observed:
    """Runs of one side in one cell: quantities and digests by the seeds of the runs."""

    values: dict[str, dict[int, float]] = field(default_factory=dict)
    """Each quantity by its name."""
    logs: dict[int, str] = field(default_factory=dict)
    """SHA-256 of the packet logs, of runs that have one."""
    failures: list[str] = field(default_factory=list)
    """Reasons of runs that failed, each with its run."""
    _taken: set[int] = field(default_factory=set)
    """Seeds of the runs that were read."""

    @property
    def runs(self) -> int:
        """Return the number of runs that have any quantity."""
        return max(map(len, self.values.values()), default=0)

    def of(self, metric: JudgedMetric) -> Values:
        """Return a quantity of the runs."""
        return self.values.get(metric.name, {})

    def take(
        self, results: ResultsDirectory, label: str, metrics: Sequence[JudgedMetric], path: str | None = None
    ) -> None:
        """Add the runs of `label` that have been made since the last time: on one path, or on the only one."""
        for run in results.planned():
            if run.scheme == label and run.path == (path or run.path) and run.seed not in self._taken:
                self.add(run, results.readable(run), metrics, results.experiment.duration_s)

    def add(self, run: Run, table: RunTable, metrics: Sequence[JudgedMetric], duration_s: float) -> None:
        """Add one run. A run that has not been made yet, or whose numbers do not count, adds nothing."""
        if table["status"] == "missing":
            return
        self._taken.add(run.seed)
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
    def together(cls, parts: Iterable[Observed]) -> Observed:
        """Return what was seen in several parts, whose runs have different seeds."""
        seen = cls()
        for part in parts:
            seen.logs |= part.logs
            seen.failures += part.failures
            for name, values in part.values.items():
                seen.values.setdefault(name, {}).update(values)
        return seen


@dataclass(frozen=True)
class KeptCell:
    """Runs of a side in a cell: their path, a digest of all that they depend on, and what was seen of them."""

    path: str
    digest: str
    seen: Observed


@dataclass(frozen=True)
class KeptRule:
    """Figures that a side showed in a case of safety, by the place of their check, and the digest of the case."""

    figures: Mapping[str, float]
    digest: str


@dataclass(frozen=True)
class Kept:
    """Runs of before, by cell."""

    cells: Mapping[str, KeptCell]
    source: str
    made_by: str = ""
    """The version of dumbbell that made the runs."""
    scheme: str = ""
    """Name of the scheme that ran."""
    transport: str = ""
    """The transport of the scheme, in words."""
    rules: Mapping[str, KeptRule] = field(default_factory=dict)
    """Figures of the rules of safety, by the rule."""
    packets: Mapping[str, SentLog] | str = "the results of before keep no packets"
    """The first packets of each cell's first run, by cell, or why there are none."""

    def with_cells(
        self, cells: Mapping[str, KeptCell], rules: Mapping[str, KeptRule], packets: Mapping[str, SentLog]
    ) -> Kept:
        """Return it with other cells, rules and packets in place of its own of these names."""
        before = {} if isinstance(self.packets, str) else self.packets
        return replace(
            self, cells={**self.cells, **cells}, rules={**self.rules, **rules}, packets={**before, **packets}
        )


@dataclass(frozen=True)
class Side:
    """One side of a check: `scheme` is run; or there are `kept` runs."""

    name: str
    given: str
    scheme: Scheme | None = None
    kept: Kept | None = None

    @property
    def transport(self) -> str:
        """Return its transport in words; empty where nothing tells it."""
        if self.kept is not None:
            return self.kept.transport
        return self.scheme.transport_text if self.scheme else ""

    @property
    def as_run(self) -> Scheme:
        """Return the scheme under the name of the side, so that two versions of one controller stand in one run."""
        assert self.scheme is not None
        return replace(self.scheme, name=self.name, title=self.given, aliases=())


def quantity(metric: JudgedMetric, run: RunTable, label: str, duration_s: float) -> float | None:
    """Return a judged quantity of a run: of all flows of `label`, or of the network. None if the run does not tell it.

    A transfer that did not end counts as if it ended with the run.
    """
    if metric.of_network:
        found = [run["network"].get(metric.metric)]
    else:
        found = [flow.get(metric.metric) for flow in run["flows"] if flow.get("scheme") == label]
        if metric.name == "completion":
            found = [duration_s if value is None else value for value in found]
    values = [float(value) for value in found if isinstance(value, (int, float)) and math.isfinite(value)]
    if not values or len(values) < len(found):
        return None
    return metric.scale * math.fsum(values) / (1 if metric.total else len(values))
