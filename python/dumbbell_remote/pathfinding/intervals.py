"""Estimates with intervals that contain the true value in at least 95 of 100 cases."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

LEVEL = 0.95
_STEPS = 60


@dataclass(frozen=True)
class Estimate:
    """A value, its bounds (None if unknown), and its method.

    `value` is None where only a bound is known.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    how: str

    def widened(self, part: float) -> "Estimate":
        """Return the estimate with bounds lower and higher by `part`, a relative value."""
        low = None if self.low is None else self.low * (1.0 - part)
        return replace(self, low=low, high=None if self.high is None else self.high * (1.0 + part))

    def table(self) -> dict[str, object]:
        """Return the estimate as JSON values."""
        return asdict(self)

    def text(self, digits: int = 4) -> str:
        """Return the estimate for people and provenances: `20.1 Mbit/s (19.8 to 20.4)`."""
        if self.value is None:
            bound = f"at least {_short(self.low, digits)}" if self.low is not None else "unknown"
            return f"{bound} {self.unit}".strip() if self.low is not None else bound
        sides = [_short(side, digits) for side in (self.low, self.high)]
        between = f" ({sides[0]} to {sides[1]})" if self.low is not None and self.high is not None else ""
        return f"{_short(self.value, digits)} {self.unit}".rstrip() + between


def _short(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def share(hits: int, cases: int, method: str) -> Estimate:
    """Return the probability of an event with `hits` in `cases` (Clopper and Pearson, Biometrika 26, 1934)."""
    if cases == 0:
        return Estimate(None, None, None, "", method)
    tail = (1.0 - LEVEL) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1.0 - _at_most(hits - 1, cases, p), tail)
    high = 1.0 if hits == cases else 1.0 - _solve(lambda q: _at_most(hits, cases, 1.0 - q), tail)
    return Estimate(hits / cases, low, high, "", f"{hits} of {cases} {method}")


def median(values: Sequence[float], unit: str, method: str) -> Estimate:
    """Return the median and an interval between order statistics (binomial distribution); of few values the range."""
    if not values:
        return Estimate(None, None, None, unit, method)
    sorted_values, count = sorted(values), len(values)
    below = range(1, (count + 1) // 2)
    rank = bisect_left(below, True, key=lambda rank_below: _at_most(rank_below, count, 0.5) > (1.0 - LEVEL) / 2)
    middle = (sorted_values[(count - 1) // 2] + sorted_values[count // 2]) / 2
    return Estimate(middle, sorted_values[rank], sorted_values[count - 1 - rank], unit, method)


def quantile(sorted_values: Sequence[float], part: float) -> float:
    """Return the quantile of sorted values: the smallest value that at least the share `part` does not exceed."""
    return sorted_values[min(max(math.ceil(part * len(sorted_values)) - 1, 0), len(sorted_values) - 1)]


def _at_most(hits: int, cases: int, p: float) -> float:
    """Return the probability of at most `hits`."""
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return 1.0 if hits >= cases else 0.0
    log_p, log_q = math.log(p), math.log1p(-p)
    log_all = math.lgamma(cases + 1)
    # Terms far below the mean add nothing.
    least = max(0, hits - 10 * (math.isqrt(hits) + 10)) if hits <= cases * p else 0
    terms = (
        log_all - math.lgamma(k + 1) - math.lgamma(cases - k + 1) + k * log_p + (cases - k) * log_q
        for k in range(least, hits + 1)
    )
    return min(math.fsum(map(math.exp, terms)), 1.0)


def _solve(growing: Any, target: float) -> float:  # noqa: ANN401 (a function)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if growing(middle) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2
