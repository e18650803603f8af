"""Which way each metric is better, and how its values are written."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from dumbbell.core.metrics import metric_definitions
from dumbbell.results.analysis.metric_words import metric_words

MORE, LESS, NEITHER = 1, -1, 0

_BETTER = {"more": MORE, "less": LESS, "neutral": NEITHER}

_DIGITS = 4
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Metric:
    """A metric of a level (`flow`, `link`, `network`) as the core defines it."""

    level: str
    name: str
    unit: str = ""
    formula: str = ""
    source: str = ""
    convention: str = ""
    sampled: bool = False
    neutral: bool = False
    better: int = NEITHER
    """For one user of the network, all else equal: `MORE`, `LESS` or `NEITHER`."""

    @property
    def words(self) -> str:
        """Its name in words."""
        return metric_words(self.name)

    @property
    def arrow(self) -> str:
        """Which way is better, as a sign; empty if neither."""
        return {MORE: "\u2191", LESS: "\u2193", NEITHER: ""}[self.better]


@cache
def definitions() -> dict[tuple[str, str], Metric]:
    """Every metric by level and name."""
    return {
        (row["level"], row["name"]): Metric(
            row["level"],
            row["name"],
            unit=row["unit"],
            formula=row["formula"],
            source=row["source"],
            convention=row["convention"],
            sampled=row["sampled"],
            better=_BETTER[row["better"]],
        )
        for row in metric_definitions()
    }


def metric(level: str, name: str) -> Metric:
    """The metric called `name`."""
    return definitions().get((level, name), Metric(level, name))


def decimals(values: Iterable[float]) -> int:
    """How many decimals values that stand beside each other get: four digits for the largest, none for counts."""
    known = [value for value in values if math.isfinite(value)]
    most = max((abs(value) for value in known), default=0.0)
    if most == 0.0 or all(value == round(value) for value in known):
        return 0
    return min(max(_DIGITS - 1 - math.floor(math.log10(most)), 0), _MOST_DECIMALS)


def number(value: float, places: int) -> str:
    """The value with so many decimals, without a minus in front of zero; nothing at all is 0."""
    if value == 0:
        return "0"
    shown = f"{value:.{places}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def best(shown: list[str | None], values: list[float | None], better: int) -> list[bool]:
    """Which of values beside each other are the best, by what is shown of them; none if all are alike."""
    known = [value for value in values if value is not None]
    alike = len({text for text in shown if text is not None}) < 2
    if better == NEITHER or alike:
        return [False] * len(values)
    top = max(known) if better == MORE else min(known)
    text = shown[values.index(top)]
    return [each is not None and each == text for each in shown]
