"""Measured runs beside the published numbers of an experiment."""

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
class MeasuredMean(Mean):
    """A mean over measured runs; `clocks` contains the true mean of a one-way delay between two clocks."""

    clocks: Interval | None = None

    def bounds_text(self, number: Callable[[float], str]) -> str:
        """Return the smallest and the largest run, and the interval of the clocks."""
        return " ".join(filter(None, (super().bounds_text(number), clocks_text(self.clocks, number))))


@dataclass(frozen=True)
class Beside:
    """One published row on one path, and the result of the same scheme here; `title` is the source's name for it.

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
    """Replication error of a path, over the schemes that have throughput and delay on both sides."""

    path: str
    schemes: tuple[str, ...]


def beside(experiment: Experiment, runs: Iterable[RunTable]) -> list[Beside]:
    """Return the published rows, path by path; `runs` are as in `show --json`. Empty if nothing is published."""
    if not experiment.publication.rows:
        return []
    groups = repetitions(runs)
    rows = []
    for path in experiment.paths:
        for row in experiment.publication.rows:
            if row.path not in ("", path):
                continue
            group = groups.get((path, row.scheme))
            own_means = {metric: _own_mean(group, ("network", 0, metric)) for metric in METRICS}
            published_means = {metric: row.means.get(metric) for metric in METRICS}
            error = {metric: _error(metric, own_means[metric], published_means[metric]) for metric in METRICS}
            good = group.good if group else 0
            rows.append(Beside(path, row.scheme, row.title, good, own_means, published_means, error, row.uncounted))
    return rows


def _error(metric: str, own_mean: Mean | None, published_mean: Mean | None) -> float | None:
    if own_mean is None or published_mean is None:
        return None
    return (
        own_mean.mean - published_mean.mean
        if metric == "loss_rate"
        else relative_error(own_mean.mean, published_mean.mean)
    )


def replications(rows: Iterable[Beside]) -> list[Replication]:
    """Return the replication error of each path; paths without a scheme on both sides have none."""
    errors_by_path: dict[str, list[tuple[str, tuple[float, float]]]] = {}
    for row in rows:
        throughput, delay = row.error["throughput_mbps"], row.error["delay_p95_ms"]
        if not row.uncounted and throughput is not None and delay is not None:
            errors_by_path.setdefault(row.path, []).append((row.scheme, (throughput, delay)))
    errors_of_paths = []
    for path, scheme_errors in errors_by_path.items():
        schemes, errors = zip(*scheme_errors, strict=True)
        errors_of_paths.append(Replication(**asdict(ReplicationError.of(errors)), path=path, schemes=schemes))
    return errors_of_paths


def _own_mean(group: Repetitions | None, key: MetricKey) -> Mean | None:
    """Return the mean of a metric, without clocks if one clock measured it."""
    mean = Mean.of(group.values.get(key, [])) if group else None
    estimate = group.estimate(key) if group else None
    if mean is None or estimate is None or estimate.clocks is None:
        return mean
    return MeasuredMean(mean.mean, mean.low, mean.high, estimate.clocks)


def published_json(experiment: Experiment, rows: Sequence[Beside]) -> dict[str, object]:
    """Return the key `published` of `show --json`, for the rows of `beside`; no key if nothing is published."""
    if not rows:
        return {}
    content = {
        "source": experiment.publication.source,
        "replication": [asdict(error) for error in replications(rows)],
        "rows": [asdict(row) for row in rows],
    }
    return {"published": content}
