"""Two results directories side by side: the differences that are larger than the scatter of the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, TypeAlias, TypedDict

from dumbbell import core
from dumbbell.results.analysis.summary import LEVEL, Estimate, MetricKey, Repetitions, repetitions

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable


class ComparedMean(TypedDict):
    """A mean over the runs of one side, as JSON; `clocks` contains the true mean of a one-way delay."""

    runs: int
    mean: float
    low: float | None
    high: float | None
    bounds: str | None
    clocks: NotRequired[list[float]]


class Comparison(TypedDict):
    """A metric of one scheme on one path, on both sides; None for unknown values."""

    path: str
    scheme: str
    entity: str
    number: int
    metric: str
    a: ComparedMean | None
    b: ComparedMean | None
    difference: float | None
    relative: float | None
    low: float | None
    high: float | None
    paired: bool
    p: float | None
    p_adjusted: float | None
    would_show: float | None
    apart_by_chance: float | None
    runs_for_effect: int | None
    verdict: str


ComparedRuns: TypeAlias = tuple[list[str], "Sequence[RunTable]"]
"""Names of an experiment's paths, and its runs as in `show --json`."""


def compare_runs(before: ComparedRuns, after: ComparedRuns, metrics: tuple[str, ...] | None) -> list[Comparison]:
    """Return one row per path, scheme and metric; `metrics` selects those names, None selects all.

    If each side has a single path, these are compared whatever their names: the same path measured and modelled. This
    is true for single schemes or mixes of other names too. Probabilities are adjusted for the number of rows that have
    one.
    """
    left, right = repetitions(before[1]), repetitions(after[1])
    path = _common_name(before[0], after[0])
    scheme = _common_name(*(list(dict.fromkeys(scheme for _, scheme in side)) for side in (left, right)))
    left, right = (_rename(side, path, scheme) for side in (left, right))
    rows = []
    for key in dict.fromkeys([*left, *right]):
        first, second = left.get(key, Repetitions(*key)), right.get(key, Repetitions(*key))
        for metric in dict.fromkeys([*first.values, *second.values]):
            if metrics is None or metric[2] in metrics:
                rows.append(_row(first, second, metric))
    tested_rows = [(row, row["p"]) for row in rows if row["p"] is not None]
    for (row, _), adjusted_p in zip(tested_rows, core.holm([p for _, p in tested_rows]), strict=True):
        row["p_adjusted"] = adjusted_p
    for row in rows:
        row["verdict"] = _verdict(row)
    return rows


def _common_name(first: list[str], second: list[str]) -> str | None:
    """Return one name for both sides if each has a single name and the two differ; otherwise None."""
    return f"{first[0]} | {second[0]}" if len(first) == len(second) == 1 and first != second else None


def _rename(
    side: dict[tuple[str, str], Repetitions], path: str | None, scheme: str | None
) -> dict[tuple[str, str], Repetitions]:
    """Return the repetitions under the path's and the scheme's new names; None keeps the old one."""
    for group in side.values():
        group.path, group.scheme = path or group.path, scheme or group.scheme
    return {(group.path, group.scheme): group for group in side.values()}


def _row(first: Repetitions, second: Repetitions, metric: MetricKey) -> Comparison:
    a, b = first.estimate(metric), second.estimate(metric)
    difference = b.mean - a.mean if a and b else None
    is_paired, test_result = tested(first, second, metric)
    low, high, p, would_show = test_result or (None, None, None, None)
    base = abs(a.mean) if a and a.mean else None
    return {
        "path": first.path,
        "scheme": first.scheme,
        "entity": metric[0],
        "number": metric[1],
        "metric": metric[2],
        "a": estimate_json(a),
        "b": estimate_json(b),
        "difference": difference,
        "relative": difference / base if difference is not None and base else None,
        "low": low,
        "high": high,
        "paired": is_paired,
        "p": p,
        "p_adjusted": None,
        "would_show": would_show,
        "apart_by_chance": apart_by_chance(a.count, b.count)
        if a and b and min(a.count, b.count) > 1 and not p
        else None,
        "runs_for_effect": _runs_for_effect(would_show, base, a, b),
        "verdict": "",
    }


EFFECT = 0.03
"""Fraction of the mean of A: the number of runs that a difference of this size needs is reported."""


def _runs_for_effect(
    would_show: float | None, base: float | None, a: Estimate | None, b: Estimate | None
) -> int | None:
    """Return the number of runs on either side that show a difference of `EFFECT` in 80 of 100 cases.

    The estimate assumes that the smallest visible difference shrinks with the square root of the number of runs.
    """
    if would_show is None or base is None or a is None or b is None:
        return None
    return max(LEAST_TESTED, math.ceil(min(a.count, b.count) * (would_show / (EFFECT * base)) ** 2))


LEAST_TESTED = 5
"""Minimum runs on either side for a test of a difference."""


def tested(
    first_group: Repetitions, second_group: Repetitions, metric: MetricKey
) -> tuple[bool, tuple[float, float, float, float] | None]:
    """Return True if the runs are pairs with the same seeds, and the core's test of the difference."""
    first, second = first_group.values.get(metric, []), second_group.values.get(metric, [])
    seeds, second_seeds = first_group.by_seed.get(metric, {}), second_group.by_seed.get(metric, {})
    is_paired = len(first) == len(second) == len(seeds) and None not in seeds and seeds.keys() == second_seeds.keys()
    if is_paired:
        first, second = list(seeds.values()), [second_seeds[seed] for seed in seeds]
    return is_paired and bool(first), core.difference(first, second, is_paired, LEVEL)


def _verdict(row: Comparison) -> str:
    """Return the verdict on a row, in the words of `docs/how-to/compare.md`."""
    a, b = row["a"], row["b"]
    if not a or not b:
        return f"only in {'A' if a else 'B'}"
    if row["p"] is not None and row["p_adjusted"] is not None:
        if row["p"] >= 1.0 - LEVEL:
            return "no difference shown"
        return "different" if row["p_adjusted"] < 1.0 - LEVEL else "different alone"
    if a["low"] == b["low"] and a["high"] == b["high"] and not row["difference"]:
        return "equal"
    if a["low"] is None or a["high"] is None or b["low"] is None or b["high"] is None:
        return "one run only"
    if a["low"] <= b["high"] and b["low"] <= a["high"]:
        return "ranges overlap"
    return "ranges apart" if apart_by_chance(a["runs"], b["runs"]) < 1.0 - LEVEL else "too few runs"


def apart_by_chance(first: int, second: int) -> float:
    """Return the probability that the ranges of `first` and `second` runs of one distribution do not overlap."""
    return 2.0 / math.comb(first + second, first)


def estimate_json(estimate: Estimate | None) -> ComparedMean | None:
    """Return an estimate as JSON."""
    if estimate is None:
        return None
    mean_json: ComparedMean = {
        "runs": estimate.count,
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "bounds": estimate.bounds,
    }
    if estimate.clocks is not None:
        mean_json["clocks"] = list(estimate.clocks)
    return mean_json
