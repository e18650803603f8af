"""Metrics by level and name, and which way each is better."""

import json
from dataclasses import dataclass
from functools import cache

from dumbbell import _core
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
    sampled: bool = False
    neutral: bool = False
    better: int = NEITHER
    """For one user of the network, all else equal: `MORE`, `LESS` or `NEITHER`."""

    @property
    def words(self) -> str:
        """Its name in words."""
        return metric_words(self.name)


@cache
def definitions() -> dict[tuple[str, str], Metric]:
    """Every metric by level and name."""
    keys = ("level", "name", "unit", "formula", "source", "convention")
    rows = json.loads(_core.metrics())
    return {
        (row["level"], row["name"]): Metric(
            **{key: row[key] for key in keys}, sampled=row["sampled"], better=_BETTER[row["better"]]
        )
        for row in rows
    }


def metric(level: str, name: str) -> Metric:
    """The metric called `name`."""
    return definitions().get((level, name), Metric(level, name))
