"""Two modes: values of runs that fall into two groups with a gap between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_RUNS = 5
"""Of fewer runs no gap is told from chance."""
LEAST_STEP = 0.05
"""Of the larger mode: modes that differ by less are one."""
_GAPS = {5: 6.3, 6: 3.8, 7: 2.8, 8: 2.2, 9: 1.85, 10: 1.6, 11: 1.45, 12: 1.3}
"""By the number of runs, how many times as wide as the wider group a gap has to be: one sample of normal values in 100
has such a gap (`tests/results/test_modes.py` repeats that by simulation)."""
_LEAST_GAP = 1.2
"""The same of more runs, for values whose tails are longer than those of normal ones."""


@dataclass(frozen=True)
class Mode:
    """One of the groups: the mean of its values, and how many runs it has."""

    mean: float
    runs: int


def two_modes(values: Sequence[float]) -> tuple[Mode, Mode] | None:
    """Return the two groups that the values fall into, the one with more runs first; None if there are no two.

    The gap between the groups has to be wide beside what the values of either group span, as numbers and, of values
    above zero, as logarithms too: the long tail of a skewed distribution is no mode.
    """
    ordered = sorted(values)
    if len(ordered) < LEAST_RUNS or not all(map(math.isfinite, ordered)):
        return None
    place = _gap(ordered)
    if place is None or (ordered[0] > 0.0 and _gap([math.log(value) for value in ordered]) != place):
        return None
    low, high = (Mode(sum(part) / len(part), len(part)) for part in (ordered[:place], ordered[place:]))
    if high.mean - low.mean < LEAST_STEP * max(abs(high.mean), abs(low.mean)):
        return None
    return (high, low) if high.runs >= low.runs else (low, high)


def _gap(ordered: Sequence[float]) -> int | None:
    """Return where the upper group begins; None if no gap is wide enough."""
    least = _GAPS.get(len(ordered), _LEAST_GAP)
    place = max(range(1, len(ordered)), key=lambda each: ordered[each] - ordered[each - 1])
    spans = ordered[place - 1] - ordered[0], ordered[-1] - ordered[place]
    return place if ordered[place] - ordered[place - 1] > least * max(spans) else None
