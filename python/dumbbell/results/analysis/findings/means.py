"""Means of a metric over the runs of repetitions."""

import math

from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions


def estimate(group: Repetitions, key: MetricKey) -> Estimate | None:
    """Return the mean of a metric; None if no run has it, or if it is not finite in one of the runs."""
    mean = group.estimate(key)
    return mean if mean is not None and math.isfinite(mean.mean) else None


def mean_of(group: Repetitions, key: MetricKey) -> float | None:
    """Return the mean of a metric without its interval, which takes long to compute; None as `estimate` does."""
    mean = group.mean(key)
    return mean if mean is not None and math.isfinite(mean) else None
