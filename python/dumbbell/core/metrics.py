"""Definitions of metrics, and the values that their statistics need."""

from __future__ import annotations

from functools import cache

from dumbbell import _core
from dumbbell.contract.controllers import CriticalValues
from dumbbell.contract.statistics import Definition, Label
from dumbbell.core.codec import decoded


@cache
def metric_definitions() -> list[Definition]:
    """Return the definition of every metric."""
    return decoded(_core.metrics(), list[Definition])


@cache
def labels() -> list[Label]:
    """Return the keys of statistics that are no metrics."""
    return decoded(_core.labels(), list[Label])


def critical_values(level: float, max_tests: int) -> CriticalValues:
    """Return critical values of Student's t for up to `max_tests` tests at once.

    Raises:
        Error: If `level` is not between 0 and 1.
    """
    return decoded(_core.critical_values(level, max_tests), CriticalValues)
