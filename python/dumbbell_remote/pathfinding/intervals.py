"""Estimates with their intervals, which hold the true value in at least 95 of 100 cases."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

LEVEL = 0.95
_STEPS = 60


@dataclass(frozen=True)
class Estimate:
    """A value, what it lies between (None: no bound is known), and how it was measured.

    `value` is None where only a bound is known.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    how: str

    def widened(self, part: float) -> "Estimate":
        """The same between bounds that are by this part lower and higher."""
        low = None if self.low is None else self.low * (1.0 - part)
        return replace(self, low=low, high=None if self.high is None else self.high * (1.0 + part))

    def table(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def text(self, digits: int = 4) -> str:
        """For people and provenances: `20.1 Mbit/s (19.8 to 20.4)`."""
        if self.value is None:
            bound = f"at least {_short(self.low, digits)}" if self.low is not None else "unknown"
            return f"{bound} {self.unit}".strip() if self.low is not None else bound
        sides = [_short(side, digits) for side in (self.low, self.high)]
        between = f" ({sides[0]} to {sides[1]})" if self.low is not None and self.high is not None else ""
        return f"{_short(self.value, digits)} {self.unit}".rstrip() + between


def _short(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def share(hits: int, cases: int, how: str) -> Estimate:
    """The probability behind `hits` of `cases` (Clopper and Pearson, Biometrika 26, 1934: never too short)."""
    if cases == 0:
        return Estimate(None, None, None, "", how)
    tail = (1.0 - LEVEL) / 2
    low = 0.0 if hits == 0 else _solve(lambda p: 1.0 - _at_most(hits - 1, cases, p), tail)
    high = 1.0 if hits == cases else 1.0 - _solve(lambda q: _at_most(hits, cases, 1.0 - q), tail)
    return Estimate(hits / cases, low, high, "", f"{hits} of {cases} {how}")


def median(values: Sequence[float], unit: str, how: str) -> Estimate:
    """The median, between order statistics (the binomial distribution of how many lie below it); of few, all."""
    if not values:
        return Estimate(None, None, None, unit, how)
    ordered, count = sorted(values), len(values)
    below = range(1, (count + 1) // 2)
    rank = bisect_left(below, True, key=lambda each: _at_most(each, count, 0.5) > (1.0 - LEVEL) / 2)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return Estimate(middle, ordered[rank], ordered[count - 1 - rank], unit, how)


def quantile(ordered: Sequence[float], part: float) -> float:
    """A quantile of ordered values: the smallest that at least this part does not exceed."""
    return ordered[min(max(math.ceil(part * len(ordered)) - 1, 0), len(ordered) - 1)]


def _at_most(hits: int, cases: int, p: float) -> float:
    """Probability of at most `hits`."""
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return 1.0 if hits >= cases else 0.0
    log_p, log_q = math.log(p), math.log1p(-p)
    log_all = math.lgamma(cases + 1)
    # The terms that matter are around the mean: what is far below it adds nothing.
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
