"""Rule for simulated rows: the median decides, or the simulated 95 % range if one run was published.

Results name the number of the rule that was committed when they were made. A rule does not judge older results.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from validation.fidelity.claims import ClaimRow, Interval, Limits

RULE = 2
"""Number of the rule. Rule 1: 95 % of the repetitions are within the tolerance."""
FILE = Path(__file__)
WIDEST = 2.0
"""Largest informative ratio of the ends of a simulated range."""
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True)
class Ruling:
    """Verdict on the repetitions of a row by one tolerance.

    Attributes:
        wide: Judged metrics with a simulated range wider than a factor of two.
        median: True if the median of every judged metric is within its limits.
        is_published_inside: True if the one published run is in the simulated range of every judged metric; None if
            there is no such run.
    """

    wide: tuple[str, ...]
    median: bool
    is_published_inside: bool | None = None

    @property
    def passed(self) -> bool | None:
        """Return the verdict; None if the row is uninformative."""
        return None if self.wide else self.median or self.is_published_inside is True

    def __str__(self) -> str:
        if self.wide:
            return f"uninformative: {', '.join(self.wide)}"
        if self.median:
            return "pass: median"
        return "pass: published run in the range" if self.is_published_inside else "miss"


def simulated_range(values: Sequence[float]) -> Interval:
    """Return the 2.5th and the 97.5th percentile, interpolated linearly."""
    ordered_values = sorted(values)
    return _percentile(ordered_values, _LOW), _percentile(ordered_values, _HIGH)


def _percentile(ordered_values: Sequence[float], part: float) -> float:
    below, share = divmod(part * (len(ordered_values) - 1), 1.0)
    low = ordered_values[int(below)]
    return low + share * (ordered_values[int(below) + 1] - low) if share else low


def is_wide(ends: Interval, *, change: bool = False) -> bool:
    """Return True if the range is wider than a factor of two; the ends of a `change` are factors minus one."""
    low, high = ends
    if low == high:
        return False
    if change:
        low, high = 1.0 + low, 1.0 + high
    if high < 0:
        low, high = -high, -low
    return not 0 < low <= high <= WIDEST * low


def overlap(first: Interval, other: Interval) -> bool:
    """Return True if two ranges have a value in common."""
    return first[0] <= other[1] and other[0] <= first[1]


def ruling(row: ClaimRow, values: Sequence[Mapping[str, float]], limits: Limits) -> Ruling:
    """Return the verdict on the repetitions. Repetitions that are all equal are judged by the median alone."""
    columns = {metric: [value[metric] for value in values] for metric in limits}
    ends = {metric: simulated_range(column) for metric, column in columns.items()}
    median = all(low <= statistics.median(columns[metric]) <= high for metric, (low, high) in limits.items())
    if all(value == values[0] for value in values):
        return Ruling((), median)
    wide = tuple(metric for metric in limits if is_wide(ends[metric], change=row.metrics[metric].change))
    published_ranges = {metric: row.metrics[metric].published_range for metric in limits}
    if row.published_runs != 1 or None in published_ranges.values():
        return Ruling(wide, median)
    return Ruling(
        wide,
        median,
        all(
            published_range and overlap(published_range, ends[metric])
            for metric, published_range in published_ranges.items()
        ),
    )
