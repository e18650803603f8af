"""The two sides of a check: a scheme that runs, or what was kept of runs of before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dumbbell.catalog.check_suite import JudgedMetric
from dumbbell.catalog.scheme import Scheme
from dumbbell.studies.check.judging import Values

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.results import ResultsDirectory

BASELINE, CANDIDATE = "baseline", "candidate"
"""The names of the sides, under which their runs are kept."""


@dataclass
class Observed:
    """What was seen of one side in one cell, by the seeds of the runs."""

    values: dict[str, dict[int, float]] = field(default_factory=dict)
    """Each quantity by its name."""
    logs: dict[int, str] = field(default_factory=dict)
    """SHA-256 of the packet logs, of runs that have one."""
    failures: list[str] = field(default_factory=list)
    """Reasons of runs that failed, each with its run."""

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
        """Add the runs of `label` that the results have: on one path, or on the only one."""
        for run in results.planned():
            if run.scheme != label or run.path != (path or run.path):
                continue
            table = results.readable(run)
            if table["status"] == "failed":
                self.failures.append(f"run {run.run}: {table['reason']}")
            if table["status"] != "done":
                continue
            digest = (table.get("files") or {}).get("packets.parquet")
            if digest is not None:
                self.logs[run.seed] = str(digest["sha256"])
            for metric in metrics:
                value = quantity(metric, table, label, results.experiment.duration_s)
                if value is not None:
                    self.values.setdefault(metric.name, {})[run.seed] = value


@dataclass(frozen=True)
class Kept:
    """Runs of before: what was seen in each cell, and the digest of the cell that it was seen in."""

    cells: Mapping[str, Observed]
    digests: Mapping[str, str]
    source: str
    made_by: str = ""
    """The version of dumbbell that made the runs."""
    scheme: str = ""
    """What ran."""


@dataclass(frozen=True)
class Side:
    """One side of a check: `scheme` is run; or there are `kept` runs."""

    name: str
    given: str
    scheme: Scheme | None = None
    kept: Kept | None = None

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
