"""Comparison of two means with the scatter of the runs of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from dumbbell import core
from dumbbell.results.analysis.compare import tested
from dumbbell.results.analysis.summary import LEVEL, MetricKey, Repetitions


class Noise(Enum):
    """Relation of a difference to the noise of the runs."""

    RESOLVED = auto()
    """Five runs or more each, and the difference is beyond chance."""
    OPEN = auto()
    """Five runs or more each, and the difference may be chance."""
    APART = auto()
    """Two to four runs, and the ranges do not overlap."""
    OVERLAP = auto()
    """Two to four runs, and the ranges overlap."""
    SINGLE = auto()
    """One of the two has a single run: its noise is unknown."""
    EQUAL = auto()
    """Equal values in every run."""
    CLOCKS = auto()
    """The difference is smaller than the error of the clocks of both ends."""


@dataclass(frozen=True)
class Verdict:
    """The second mean less the first, with its interval if known, and the number of runs."""

    noise: Noise
    runs: int
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """True if the difference is larger than the scatter of the runs, as far as they show."""
        return self.noise in (Noise.RESOLVED, Noise.APART)


Pair = tuple[Repetitions, Repetitions, MetricKey]


def judged(pairs: Sequence[Pair]) -> list[Verdict]:
    """Judge all differences of one sentence together: probabilities are adjusted for their number (Holm).

    Runs of equal seeds are pairs. Every group must have its metric.
    """
    test_results = [tested(*pair)[1] for pair in pairs]
    tested_indices = [index for index, result in enumerate(test_results) if result is not None]
    adjusted_p = dict(
        zip(tested_indices, core.holm([result[2] for result in test_results if result is not None]), strict=True)
    )
    return [_verdict(pair, test_results[index], adjusted_p.get(index)) for index, pair in enumerate(pairs)]


def _verdict(pair: Pair, test_result: tuple[float, float, float, float] | None, adjusted_p: float | None) -> Verdict:
    first_group, second_group, key = pair
    first, second = first_group.estimate(key), second_group.estimate(key)
    assert first is not None
    assert second is not None
    runs, difference = min(first.count, second.count), second.mean - first.mean
    if _equal(pair):
        return Verdict(Noise.EQUAL, runs, 0.0)
    clocks = [high - low for low, high in (mean.clocks for mean in (first, second) if mean.clocks)]
    if clocks and abs(difference) <= max(clocks):
        return Verdict(Noise.CLOCKS, runs, difference)
    if test_result is not None and adjusted_p is not None:
        low, high, *_ = test_result
        is_resolved = adjusted_p < 1.0 - LEVEL and (low > 0.0 or high < 0.0)
        return Verdict(Noise.RESOLVED if is_resolved else Noise.OPEN, runs, difference, low, high)
    if runs < 2:
        return Verdict(Noise.SINGLE, runs, difference)
    overlap = min(first_group.values[key]) <= max(second_group.values[key]) and min(second_group.values[key]) <= max(
        first_group.values[key]
    )
    return Verdict(Noise.OVERLAP if overlap else Noise.APART, runs, difference)


def _equal(pair: Pair) -> bool:
    """Return True if both have equal values: in each pair of runs with one seed, or in all runs."""
    first, second, key = pair
    seeds, second_seeds = first.by_seed[key], second.by_seed[key]
    if None not in seeds and len(seeds) == len(first.values[key]) and seeds == second_seeds:
        return True
    return len({*first.values[key], *second.values[key]}) == 1
