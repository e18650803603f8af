"""Values of the core for the unit tests of TypeScript: `python -m web.core_values` in `tests/` writes them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from dumbbell import core
from dumbbell.present.serve.runs_table import critical_values
from dumbbell.results.analysis.summary import LEVEL

FILE = Path(__file__).parents[2] / "web/test/data/core_values.json"


def core_values() -> dict[str, Any]:
    """Return critical values, quantiles, intervals, differences and families of tests, from random samples."""
    draw = random.Random(1)
    return {
        "critical_values": critical_values(),
        "quantiles": [*_whole_quantiles(), *_welch_quantiles(draw)],
        "intervals": _intervals(draw),
        "differences": [_difference(draw, size, is_paired) for size in (4, 5, 8, 30) for is_paired in (False, True)],
        "families": [_family(draw, size) for size in (1, 2, 3, 6, 12) for _ in range(6)],
    }


def _sample(draw: random.Random, size: int, mean: float = 0.0, deviation: float = 1.0) -> list[float]:
    return [round(draw.gauss(mean, deviation), 4) for _ in range(size)]


def _whole_quantiles() -> list[dict[str, float]]:
    """Return quantiles at whole degrees of freedom, from intervals of values whose mean is 0."""
    quantiles = []
    for tests in (1, 2, 5, 12):
        for freedom in (4, 5, 6, 7, 9, 12, 19, 29, 60, 120, 499, 2000):
            values = [math.cos(math.pi * number) for number in range(freedom + 1)]
            deviation = math.dist(values, [sum(values) / len(values)] * len(values)) / math.sqrt(freedom)
            interval = core.confidence_interval(values, 1 - (1 - LEVEL) / tests)
            assert interval is not None
            value = (interval[1] - interval[0]) / 2 / deviation * math.sqrt(len(values))
            quantiles.append({"tests": tests, "freedom": freedom, "value": value})
    return quantiles


def _welch_quantiles(draw: random.Random) -> list[dict[str, float]]:
    """Return quantiles between whole degrees of freedom, read off differences of samples with unequal scatter."""
    quantiles = []
    for number in range(80):
        first, second = _sample(draw, 5 + number // 4), _sample(draw, 5 + number // 5, 1.0, draw.uniform(0.5, 4.0))
        shares = [_variance(values) / len(values) for values in (first, second)]
        squares = sum(share**2 / (len(values) - 1) for share, values in zip(shares, (first, second), strict=True))
        tests = 1 + number % 12
        difference = core.difference(first, second, False, 1 - (1 - LEVEL) / tests)
        assert difference is not None
        value = (difference[1] - difference[0]) / 2 / math.sqrt(sum(shares))
        quantiles.append({"tests": tests, "freedom": sum(shares) ** 2 / squares, "value": value})
    return quantiles


def _variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _intervals(draw: random.Random) -> list[dict[str, Any]]:
    """Return intervals of normal and log-normal samples, of fractions, and of values that hardly differ."""
    sizes = [2, 4, 5, 6, 30, 120]
    samples = [(_sample(draw, size, 10.0, 2.0), False) for size in sizes]
    samples += [([round(math.exp(value), 4) for value in _sample(draw, size)], False) for size in sizes]
    samples += [([round(draw.random(), 4) for _ in range(size)], True) for size in sizes]
    samples += [([3.0] * 7, False), ([0.0, 0.0, 0.0, 0.0, 1.0], True), ([1.0], False)]
    intervals = []
    for values, fraction in samples:
        low, high = core.confidence_interval(values, LEVEL, fraction) or (None, None)
        intervals.append({"values": values, "fraction": fraction, "low": low, "high": high})
    return intervals


def _difference(draw: random.Random, size: int, is_paired: bool) -> dict[str, Any]:
    first, second = _sample(draw, size), _sample(draw, size, 1.0, 2.0)
    low, high, _, _ = core.difference(first, second, is_paired, LEVEL) or (None, None, 1.0, None)
    return {"first": first, "second": second, "paired": is_paired, "low": low, "high": high}


def _family(draw: random.Random, tests: int) -> dict[str, Any]:
    """Return samples that are compared together, and for each pair whether the core calls it different."""
    samples, probabilities = [], []
    for _ in range(tests):
        is_paired = draw.random() < 0.5
        size = draw.randint(5, 9)
        first, second = _sample(draw, size), _sample(draw, size, draw.uniform(0.0, 4.0))
        difference = core.difference(first, second, is_paired, LEVEL)
        assert difference is not None
        samples.append({"first": first, "second": second, "paired": is_paired})
        probabilities.append(difference[2])
    return {"samples": samples, "significant": [probability < 1 - LEVEL for probability in core.holm(probabilities)]}


if __name__ == "__main__":
    FILE.write_text(json.dumps(core_values()) + "\n", encoding="utf-8")
