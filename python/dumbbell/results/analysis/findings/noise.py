"""Whether two means differ by more than the runs of each scatter."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from dumbbell import core
from dumbbell.results.analysis.compare import tested
from dumbbell.results.analysis.summary import LEVEL, MetricKey, Repetitions


class Noise(Enum):
    """What the runs say of a difference."""

    RESOLVED = auto()
    """Five runs or more each, and the difference is beyond chance."""
    OPEN = auto()
    """Five runs or more each, and it may be chance."""
    APART = auto()
    """Two to four runs, and the ranges do not overlap."""
    OVERLAP = auto()
    """Two to four runs, and they do."""
    SINGLE = auto()
    """One of the two has a single run: nothing is known of its noise."""
    EQUAL = auto()
    """The same value in every run."""
    CLOCKS = auto()
    """Smaller than what the clocks of both ends leave open."""


@dataclass(frozen=True)
class Verdict:
    """The second mean less the first, where it lies if that is known, and from how many runs."""

    noise: Noise
    runs: int
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def clear(self) -> bool:
        """Whether it is larger than the scatter of the runs, as far as they can say."""
        return self.noise in (Noise.RESOLVED, Noise.APART)


Pair = tuple[Repetitions, Repetitions, MetricKey]


def judged(pairs: Sequence[Pair]) -> list[Verdict]:
    """Judge all differences that are spoken of together: their probabilities are adjusted for their number (Holm).

    Runs of the same seeds are pairs. A group that lacks the metric must not be among them.
    """
    found = [tested(*pair)[1] for pair in pairs]
    known = [index for index, each in enumerate(found) if each is not None]
    adjusted = dict(zip(known, core.holm([each[2] for each in found if each is not None]), strict=True))
    return [_verdict(pair, found[index], adjusted.get(index)) for index, pair in enumerate(pairs)]


def _verdict(pair: Pair, found: tuple[float, float, float, float] | None, adjusted: float | None) -> Verdict:
    one, other, key = pair
    first, second = one.estimate(key), other.estimate(key)
    assert first is not None
    assert second is not None
    runs, difference = min(first.count, second.count), second.mean - first.mean
    if _equal(pair):
        return Verdict(Noise.EQUAL, runs, 0.0)
    clocks = [high - low for low, high in (each.clocks for each in (first, second) if each.clocks)]
    if clocks and abs(difference) <= max(clocks):
        return Verdict(Noise.CLOCKS, runs, difference)
    if found is not None and adjusted is not None:
        low, high, *_ = found
        resolved = adjusted < 1.0 - LEVEL and (low > 0.0 or high < 0.0)
        return Verdict(Noise.RESOLVED if resolved else Noise.OPEN, runs, difference, low, high)
    if runs < 2:
        return Verdict(Noise.SINGLE, runs, difference)
    overlap = min(one.values[key]) <= max(other.values[key]) and min(other.values[key]) <= max(one.values[key])
    return Verdict(Noise.OVERLAP if overlap else Noise.APART, runs, difference)


def _equal(pair: Pair) -> bool:
    """Whether both have the same value: in each pair of runs with one seed, or in all runs."""
    one, other, key = pair
    seeds, others = one.by_seed[key], other.by_seed[key]
    if None not in seeds and len(seeds) == len(one.values[key]) and seeds == others:
        return True
    return len({*one.values[key], *other.values[key]}) == 1
