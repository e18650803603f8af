"""Errors of a path: Pantheon's replication error (Yan et al., USENIX ATC 2018, section 5), and the search objective.

The error is the mean over schemes of |emulated - measured| / measured, of throughput and of 95th-percentile delay, both
weighted equally. Where runs have several flows, each (scheme, flow) counts like a scheme.

A search can minimise this error, but a scheme whose runs differ by a factor of four tells less about a path than
a scheme whose runs differ by 1 %. By default a search therefore maximises a likelihood: relative errors have a Laplace
distribution. Its scale is the standard error, due to chance, plus the misfit that the model cannot explain (equal for
all metrics, as large as fits the path best). Without known spreads, throughput and delay give the best path of
Pantheon's error. Loss is not in that error; it distinguishes random loss from short queues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from dumbbell.results.analysis.replication import ReplicationError
from dumbbell_calibrate.target import Point

Array = NDArray[numpy.float64]

METRICS = ("throughput_mbps", "delay_p95_ms", "loss_rate")

LOSS_WEIGHT = 0.25
"""Weight of the loss rates in the likelihood, where throughput and delay have weight 1 each.

Simple models have their largest errors in loss."""

LEAST_LOSS = 0.001
"""Loss rate that is added to the scale of relative errors. Below it, a single burst or the end of a run decides."""

_ALL_WRONG = 1.0
"""Relative error of a flow without arrived packets, or of a failed run."""

_MISFITS = numpy.geomspace(0.005, 50.0, 48)
"""Candidate misfits of a model, as relative errors. The likelihood takes the most likely one."""


@dataclass(frozen=True)
class Outcome:
    """Mean results of a flow over the simulated runs. Delay and loss are None if nothing arrived."""

    throughput_mbps: float
    delay_p95_ms: float | None
    loss_rate: float | None


Outcomes = Mapping[tuple[str, int], Outcome]
"""Outcomes by scheme and flow (0: all flows together)."""


@dataclass(frozen=True)
class PointError:
    """Relative errors of a scheme, or of a single flow."""

    throughput: float
    delay: float

    @property
    def replication(self) -> float:
        """Contribution to Pantheon's error."""
        return (self.throughput + self.delay) / 2.0


def errors(points: Sequence[Point], outcomes: Outcomes) -> list[PointError]:
    """Return the errors of all points."""
    relative = relative_errors(emulated_values(points, [outcomes]), measured_values(points))[0]
    return [PointError(float(throughput), float(delay)) for throughput, delay, _ in relative]


def replication_error(point_errors: Sequence[PointError]) -> float:
    """Return Pantheon's replication error."""
    return ReplicationError.of([(point_error.throughput, point_error.delay) for point_error in point_errors]).error


def emulated_values(points: Sequence[Point], outcomes: Sequence[Outcomes]) -> Array:
    """Return the results as paths x points x metrics; NaN where nothing arrived."""
    return numpy.array([[_values(path_outcomes.get(point.key)) for point in points] for path_outcomes in outcomes])


def measured_values(points: Sequence[Point]) -> Array:
    """Return the measured values as points x metrics; NaN where nothing was measured."""
    return numpy.array([[_mean(point, metric) for metric in METRICS] for point in points])


def chances(points: Sequence[Point], runs: int) -> Array:
    """Return the relative standard errors, points x metrics, of measured means and means over `runs` together."""
    values = numpy.array([[point.mean_error(metric) for metric in METRICS] for point in points])
    factors = numpy.sqrt([[1.0 + point.runs / runs] for point in points])
    chance: Array = values * factors / _scales(measured_values(points))
    return numpy.nan_to_num(chance)


def relative_errors(simulated_values: Array, target_values: Array) -> Array:
    """Return the relative errors as paths x points x metrics; NaN where nothing was measured."""
    apart: Array = numpy.abs(simulated_values - target_values) / _scales(target_values)
    apart[numpy.isnan(simulated_values) & ~numpy.isnan(target_values)] = _ALL_WRONG
    return apart


def search_objective(
    simulated_values: Array, target_values: Array, chance: Array | None, weights: Array | None = None
) -> Array:
    """Return the search objective of each path: the negative log-likelihood; Pantheon's error without `chance`."""
    errors = relative_errors(simulated_values, target_values)
    is_known = ~numpy.isnan(target_values)
    counts = (numpy.ones(len(target_values)) if weights is None else weights)[:, None] * is_known
    errors[:, ~is_known] = 0.0
    rates_and_delays, loss = slice(0, 2), slice(2, 3)
    if chance is None:
        means: Array = (errors * counts)[:, :, rates_and_delays].sum(axis=(1, 2)) / counts[:, rates_and_delays].sum()
        return means
    total: Array = _unlikely(errors[:, :, rates_and_delays], counts[:, rates_and_delays], chance[:, rates_and_delays])
    return total + LOSS_WEIGHT * _unlikely(errors[:, :, loss], counts[:, loss], chance[:, loss])


def _unlikely(errors: Array, counts: Array, chance: Array) -> Array:
    """Return the negative log-likelihood of some metrics, which share one misfit."""
    total_count = counts.sum()
    if not total_count:
        return numpy.zeros(len(errors))
    scale = chance + _MISFITS[:, None, None]
    # misfits x paths: the sum over points and metrics is a product of matrices
    inverse, logs = (counts / scale).reshape(len(scale), -1), (counts * numpy.log(scale)).sum(axis=(1, 2))
    likelihood: Array = inverse @ errors.reshape(len(errors), -1).T + logs[:, None]
    least: Array = likelihood.min(axis=0) / total_count
    return least


def _scales(target_values: Array) -> Array:
    """Return the scales of relative errors."""
    scales: Array = target_values + numpy.array([0.0, 0.0, LEAST_LOSS])
    return scales


def _values(outcome: Outcome | None) -> list[float]:
    values = [None if outcome is None else getattr(outcome, metric) for metric in METRICS]
    return [float("nan") if value is None else value for value in values]


def _mean(point: Point, metric: str) -> float:
    mean = getattr(point, metric)
    return float("nan") if mean is None else float(mean.mean)
