"""Means over the repetitions of a run, with confidence intervals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.results.numbers import numbers

LEVEL = 0.95

MetricKey = tuple[str, int, str]
"""Entity (`network`, `flow`, `link`), its number, the metric's name."""


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over runs and its bootstrap interval; no interval from a single run."""

    count: int
    mean: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: list[float]) -> "Estimate":
        """The estimate from the values of the runs."""
        mean = sum(values) / len(values)
        if len(values) < 2:
            return cls(len(values), mean, None, None)
        low, high = _core.bootstrap_interval(values, LEVEL)
        return cls(len(values), mean, low, high)

    def overlaps(self, other: "Estimate") -> bool | None:
        """Whether the intervals overlap; `None` where one of them is unknown."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None
        return self.low <= other.high and other.low <= self.high


@dataclass
class Repetitions:
    """All runs of one scheme (or mix) on one path."""

    path: str
    scheme: str
    runs: int = 0
    good: int = 0

    def __post_init__(self) -> None:
        self.values: dict[MetricKey, list[float]] = {}

    def estimate(self, key: MetricKey) -> Estimate | None:
        """Mean and interval of one metric, if any run has it."""
        values = self.values.get(key)
        return Estimate.of(values) if values else None


def repetitions(runs: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Repetitions]:
    """The runs, given as in `show --json`, gathered by path and scheme."""
    gathered: dict[tuple[str, str], Repetitions] = {}
    for run in runs:
        key = (run["path"], run["scheme"])
        group = gathered.setdefault(key, Repetitions(*key))
        group.runs += 1
        if run["status"] != "done":
            continue
        group.good += 1
        for entity, number, name, value in numbers(run):
            group.values.setdefault((entity, number, name), []).append(value)
    return gathered
