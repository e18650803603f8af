"""Metrics by level and name, and their better direction."""

from dataclasses import dataclass
from functools import cache

from dumbbell.core.metrics import metric_definitions
from dumbbell.results.analysis.metric_words import metric_words

MORE, LESS, NEITHER = 1, -1, 0

_BETTER = {"more": MORE, "less": LESS, "neutral": NEITHER}


@dataclass(frozen=True)
class Metric:
    """A metric of a level (`flow`, `link`, `network`) as the core defines it."""

    level: str
    name: str
    unit: str = ""
    formula: str = ""
    source: str = ""
    convention: str = ""
    is_sampled: bool = False
    neutral: bool = False
    better: int = NEITHER
    """Better direction for one user of the network, all else equal: `MORE`, `LESS` or `NEITHER`."""

    @property
    def words(self) -> str:
        """Name in words."""
        return metric_words(self.name)


@cache
def definitions() -> dict[tuple[str, str], Metric]:
    """Return every metric by level and name."""
    return {
        (row["level"], row["name"]): Metric(
            row["level"],
            row["name"],
            unit=row["unit"],
            formula=row["formula"],
            source=row["source"],
            convention=row["convention"],
            is_sampled=row["sampled"],
            better=_BETTER[row["better"]],
        )
        for row in metric_definitions()
    }


def metric(level: str, name: str) -> Metric:
    """Return the metric called `name`."""
    return definitions().get((level, name), Metric(level, name))
