"""How far a path is off: Pantheon's replication error (Yan et al., USENIX ATC 2018, section 5), and what is minimised.

The error is the mean over schemes of |emulated - measured| / measured, of throughput and of 95th-percentile delay, both
weighted equally. Where runs have several flows, each (scheme, flow) counts like a scheme.

A search can minimise just that, but two schemes whose runs differ by 1 % and by a factor of four do not say equally
much of a path. Unless told otherwise it therefore maximises a likelihood: relative errors are taken as Laplace
distributed, with a scale of what chance explains of each (its standard error) and what the model cannot (the same for
all, as large as suits the path best). Where no spread is known, of throughput and delay this is Pantheon's error: the
same path is best. Loss, which is no part of it, tells random loss from short queues.
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
"""Weight of the loss rates in the likelihood beside throughput and delay together: half of their share, a third.

Simple models are further off in loss than in all else.
"""

LEAST_LOSS = 0.001
"""Loss rates are compared relative to this more than they are: below, a single burst or the end of a run decides."""

_ALL_WRONG = 1.0
"""The relative error of a flow without any packet that arrived, or of a run that failed."""

_MISFITS = numpy.geomspace(0.005, 50.0, 48)
"""What the model may leave unexplained, as a relative error; the likelihood takes the most likely."""


@dataclass(frozen=True)
class Outcome:
    """What a flow got, as the mean over the simulated runs; None of delay and loss where nothing arrived."""

    throughput_mbps: float
    delay_p95_ms: float | None
    loss_rate: float | None


Outcomes = Mapping[tuple[str, int], Outcome]
"""By scheme and flow (0: all flows together)."""


@dataclass(frozen=True)
class PointError:
    """The relative errors of one scheme, or one of its flows."""

    throughput: float
    delay: float

    @property
    def replication(self) -> float:
        """Its part of Pantheon's error."""
        return (self.throughput + self.delay) / 2.0


def errors(points: Sequence[Point], outcomes: Outcomes) -> list[PointError]:
    """Of every point."""
    found = relative_errors(emulated(points, [outcomes]), measured(points))[0]
    return [PointError(float(throughput), float(delay)) for throughput, delay, _ in found]


def replication_error(found: Sequence[PointError]) -> float:
    """Pantheon's error."""
    return ReplicationError.of([(each.throughput, each.delay) for each in found]).error


def emulated(points: Sequence[Point], outcomes: Sequence[Outcomes]) -> Array:
    """Paths x points x metrics; what did not arrive is not a number."""
    return numpy.array([[_values(found.get(point.key)) for point in points] for found in outcomes])


def measured(points: Sequence[Point]) -> Array:
    """Points x metrics; what was not measured is not a number."""
    return numpy.array([[_mean(point, metric) for metric in METRICS] for point in points])


def chances(points: Sequence[Point], runs: int) -> Array:
    """Points x metrics: standard errors, relative as errors are, of measured means and of those of so many runs."""
    values = numpy.array([[point.mean_error(metric) for metric in METRICS] for point in points])
    both = numpy.sqrt([[1.0 + point.runs / runs] for point in points])
    chance: Array = values * both / _scales(measured(points))
    return numpy.nan_to_num(chance)


def relative_errors(found: Array, wanted: Array) -> Array:
    """Paths x points x metrics; not a number where nothing was measured."""
    apart: Array = numpy.abs(found - wanted) / _scales(wanted)
    apart[numpy.isnan(found) & ~numpy.isnan(wanted)] = _ALL_WRONG
    return apart


def searched(found: Array, wanted: Array, chance: Array | None, weights: Array | None = None) -> Array:
    """What is minimised, of every path: the negative logarithm of the likelihood; Pantheon's error without `chance`."""
    errors = relative_errors(found, wanted)
    known = ~numpy.isnan(wanted)
    counts = (numpy.ones(len(wanted)) if weights is None else weights)[:, None] * known
    errors[:, ~known] = 0.0
    both, loss = slice(0, 2), slice(2, 3)
    if chance is None:
        means: Array = (errors * counts)[:, :, both].sum(axis=(1, 2)) / counts[:, both].sum()
        return means
    total: Array = _unlikely(errors[:, :, both], counts[:, both], chance[:, both])
    return total + LOSS_WEIGHT * _unlikely(errors[:, :, loss], counts[:, loss], chance[:, loss])


def _unlikely(errors: Array, counts: Array, chance: Array) -> Array:
    """Of some metrics, which share what the model leaves unexplained."""
    whole = counts.sum()
    if not whole:
        return numpy.zeros(len(errors))
    scale = chance + _MISFITS[:, None, None]
    # misfits x paths: the sum over points and metrics is a product of matrices
    inverse, logs = (counts / scale).reshape(len(scale), -1), (counts * numpy.log(scale)).sum(axis=(1, 2))
    likelihood: Array = inverse @ errors.reshape(len(errors), -1).T + logs[:, None]
    least: Array = likelihood.min(axis=0) / whole
    return least


def _scales(wanted: Array) -> Array:
    """What errors are relative to."""
    scales: Array = wanted + numpy.array([0.0, 0.0, LEAST_LOSS])
    return scales


def _values(outcome: Outcome | None) -> list[float]:
    values = [None if outcome is None else getattr(outcome, metric) for metric in METRICS]
    return [float("nan") if value is None else value for value in values]


def _mean(point: Point, metric: str) -> float:
    mean = getattr(point, metric)
    return float("nan") if mean is None else float(mean.mean)
