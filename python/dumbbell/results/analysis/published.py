"""Our runs beside the numbers that an experiment says were published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dumbbell.catalog.published import METRICS, Mean
from dumbbell.experiment import Experiment
from dumbbell.results.analysis.replication import ReplicationError, relative_error
from dumbbell.results.analysis.summary import MetricKey, Repetitions, repetitions
from dumbbell.results.clocks import Interval, clocks_text

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable


@dataclass(frozen=True)
class Ours(Mean):
    """A mean over our runs; `clocks` is where the true one of a one-way delay lies that two clocks measured."""

    clocks: Interval | None = None

    def bounds_text(self, number: Callable[[float], str]) -> str:
        """The smallest and the largest run, and what the clocks leave open."""
        return " ".join(filter(None, (super().bounds_text(number), clocks_text(self.clocks, number))))


@dataclass(frozen=True)
class Beside:
    """One published row on one path, and what the same scheme got here; `title` is the source's name for it.

    `error` is (ours - published) / published, of the loss rate ours - published. A row with a reason in `uncounted` is
    not part of the replication error.
    """

    path: str
    scheme: str
    title: str
    runs: int
    ours: dict[str, Mean | None]
    published: dict[str, Mean | None]
    error: dict[str, float | None]
    uncounted: str = ""


@dataclass(frozen=True)
class Replication(ReplicationError):
    """The replication error of a path, over the schemes that have throughput and delay on both sides."""

    path: str
    schemes: tuple[str, ...]


def beside(experiment: Experiment, runs: Iterable[RunTable]) -> list[Beside]:
    """The published rows, path by path; `runs` are as in `show --json`. Empty if nothing is published."""
    if not experiment.published.rows:
        return []
    gathered = repetitions(runs)
    rows = []
    for path in experiment.paths:
        for row in experiment.published.rows:
            if row.path not in ("", path):
                continue
            group = gathered.get((path, row.scheme))
            ours = {metric: _ours(group, ("network", 0, metric)) for metric in METRICS}
            published = {metric: row.means.get(metric) for metric in METRICS}
            error = {metric: _error(metric, ours[metric], published[metric]) for metric in METRICS}
            good = group.good if group else 0
            rows.append(Beside(path, row.scheme, row.title, good, ours, published, error, row.uncounted))
    return rows


def _error(metric: str, ours: Mean | None, published: Mean | None) -> float | None:
    if ours is None or published is None:
        return None
    return ours.mean - published.mean if metric == "loss_rate" else relative_error(ours.mean, published.mean)


def replications(rows: Iterable[Beside]) -> list[Replication]:
    """The replication error of each path; none of a path where no scheme has both sides."""
    counted: dict[str, list[tuple[str, tuple[float, float]]]] = {}
    for row in rows:
        throughput, delay = row.error["throughput_mbps"], row.error["delay_p95_ms"]
        if not row.uncounted and throughput is not None and delay is not None:
            counted.setdefault(row.path, []).append((row.scheme, (throughput, delay)))
    found = []
    for path, each in counted.items():
        schemes, errors = zip(*each, strict=True)
        found.append(Replication(**asdict(ReplicationError.of(errors)), path=path, schemes=schemes))
    return found


def _ours(group: Repetitions | None, key: MetricKey) -> Mean | None:
    """The mean of a metric; a plain one where it is of one clock."""
    found = Mean.of(group.values.get(key, [])) if group else None
    estimate = group.estimate(key) if group else None
    if found is None or estimate is None or estimate.clocks is None:
        return found
    return Ours(found.mean, found.low, found.high, estimate.clocks)


def published_json(experiment: Experiment, rows: Sequence[Beside]) -> dict[str, object]:
    """The key `published` of `show --json`, of the rows of `beside`; no key if nothing is published."""
    if not rows:
        return {}
    found = {
        "source": experiment.published.source,
        "replication": [asdict(each) for each in replications(rows)],
        "rows": [asdict(row) for row in rows],
    }
    return {"published": found}
