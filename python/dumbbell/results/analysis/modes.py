"""Two modes: values of runs that fall into two groups with a gap between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_RUNS = 5
"""Minimum runs: with fewer, a gap may be chance."""
LEAST_STEP = 0.05
"""Minimum distance of modes, as a fraction of the larger one."""
_GAPS = {5: 6.3, 6: 3.8, 7: 2.8, 8: 2.2, 9: 1.85, 10: 1.6, 11: 1.45, 12: 1.3}
"""Minimum gap by the number of runs, in widths of the wider group: one sample of normal values in 100 has such a gap
(`tests/results/test_modes.py` repeats that by simulation)."""
_LEAST_GAP = 1.2
"""Minimum gap of more runs, for values with longer tails than normal ones."""


@dataclass(frozen=True)
class Mode:
    """A mode: the mean of its values, and its number of runs."""

    mean: float
    runs: int


def two_modes(values: Sequence[float]) -> tuple[Mode, Mode] | None:
    """Return the two groups that the values fall into, the one with more runs first; None without two groups.

    The gap between the groups has to be wide compared with the span of either group. For values above zero, this must
    hold for logarithms too: the long tail of a skewed distribution is no mode.
    """
    sorted_values = sorted(values)
    if len(sorted_values) < LEAST_RUNS or not all(map(math.isfinite, sorted_values)):
        return None
    place = _gap(sorted_values)
    if place is None or (sorted_values[0] > 0.0 and _gap([math.log(value) for value in sorted_values]) != place):
        return None
    low, high = (Mode(sum(part) / len(part), len(part)) for part in (sorted_values[:place], sorted_values[place:]))
    if high.mean - low.mean < LEAST_STEP * max(abs(high.mean), abs(low.mean)):
        return None
    return (high, low) if high.runs >= low.runs else (low, high)


def _gap(sorted_values: Sequence[float]) -> int | None:
    """Return the index at which the upper group begins; None if no gap is wide enough."""
    least = _GAPS.get(len(sorted_values), _LEAST_GAP)
    place = max(range(1, len(sorted_values)), key=lambda index: sorted_values[index] - sorted_values[index - 1])
    spans = sorted_values[place - 1] - sorted_values[0], sorted_values[-1] - sorted_values[place]
    return place if sorted_values[place] - sorted_values[place - 1] > least * max(spans) else None
