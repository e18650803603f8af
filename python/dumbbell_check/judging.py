"""The verdict on one quantity from the runs of two sides: same, better, worse or not resolved.

The comparison is sequential: the runs are judged after 12, 28, 60, 124, ... runs, and more runs are made while a
quantity is not resolved. A change is reported if it exceeds half of the wanted effect (the tolerance), and if an
interval of the difference excludes zero (the noise). The wanted effect is excluded if a second interval lies between
the effect and its negative. Both intervals use Student's t. Their levels are divided by the number of looks
(Bonferroni), that of the first also by the number of quantities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from dumbbell import core
from dumbbell.catalog.check_suite import JudgedMetric
from dumbbell.results.analysis.compare import LEAST_TESTED

FALSE_ALARM = 1e-4
"""Probability that a check of two equal sides reports any change."""
MISSED = 0.05
"""Probability, for each quantity, that an existing wanted effect is excluded."""
FIRST = 4
"""Number of runs with packet logs. If all logs are equal, no further runs are needed."""

Verdict = Literal["same", "better", "worse", "not resolved"]
VERDICTS: tuple[Verdict, ...] = ("worse", "not resolved", "better", "same")
"""All verdicts by severity. The verdict of a check is the first one that any row has."""

Values = Mapping[int, float]
"""Values of a quantity for the runs of one side, by seed."""


def looks(most_runs: int) -> list[int]:
    """Return the numbers of runs of each side after which a cell is judged."""
    counts, more = [FIRST], 8
    while FIRST + more <= most_runs:
        counts.append(FIRST + more)
        more = 2 * more + 8
    if counts[-1] < most_runs:
        counts.append(most_runs)
    return counts


@dataclass(frozen=True)
class Judgement:
    """A row of a check. Numbers are in the quantity's unit; None if the runs do not give them.

    `low` to `high` is the interval of the difference (candidate minus baseline) at the level of reports. `would_show`
    is the difference that this number of runs with this scatter reports in 80 of 100 cases.
    """

    metric: JudgedMetric
    verdict: Verdict
    baseline: float | None
    candidate: float | None
    runs: int
    is_paired: bool = True
    difference: float | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    would_show: float | None = None
    reason: str = ""
    rule: str = ""
    """The safety rule of the row; empty for a quantity."""

    @property
    def size(self) -> float:
        """Size of the difference, in wanted effects."""
        if self.difference is None or not self.effect:
            return math.inf if self.verdict == "worse" else 0.0
        return abs(self.difference) / self.effect


def judge(
    metric: JudgedMetric, baseline: Values, candidate: Values, *, can_pair: bool, rows: int, most_runs: int, fair: float
) -> Judgement:
    """Return the judgement of a quantity; `fair` is an equal share, in the quantity's unit.

    `rows` is the number of quantities of the whole check, `most_runs` the maximum number of runs of the cell. With
    `can_pair` runs with equal seeds are paired if there are enough of them.
    """
    common = [seed for seed in baseline if seed in candidate]
    is_paired = can_pair and len(common) >= LEAST_TESTED
    first = [baseline[seed] for seed in common] if is_paired else list(baseline.values())
    second = [candidate[seed] for seed in common] if is_paired else list(candidate.values())
    runs = min(len(first), len(second))
    if not runs:
        return Judgement(metric, "not resolved", None, None, 0, is_paired, reason="no run has a value")
    before, after = fmean(first), fmean(second)
    difference, effect = after - before, metric.effect(before)
    count = len(looks(most_runs))
    outer = _interval(first, second, is_paired, FALSE_ALARM / (rows * count))
    inner = _interval(first, second, is_paired, 2.0 * MISSED / count)
    if outer is None or inner is None:
        reason = f"{runs} runs are too few for an interval"
        return Judgement(metric, "not resolved", before, after, runs, is_paired, difference, effect, reason=reason)
    verdict: Verdict = "not resolved"
    if abs(difference) > effect / 2.0 and not outer[0] <= 0.0 <= outer[1]:
        verdict = _direction(metric, before, after, fair)
    elif -effect < inner[0] and inner[1] < effect:
        verdict = "same"
    return Judgement(metric, verdict, before, after, runs, is_paired, difference, effect, *outer)


def _interval(
    first: list[float], second: list[float], is_paired: bool, outside: float
) -> tuple[float, float, float] | None:
    """Return the interval of the difference that misses it with probability `outside`, and the visible difference.

    None if the runs are too few. Without any scatter the interval is the difference itself.
    """
    estimate = core.difference(first, second, is_paired, 1.0 - outside)
    if estimate is not None:
        return estimate[0], estimate[1], estimate[3]
    if min(len(first), len(second)) < LEAST_TESTED:
        return None
    difference = fmean(second) - fmean(first)
    return difference, difference, 0.0


def _direction(metric: JudgedMetric, before: float, after: float, fair: float) -> Verdict:
    """Return `better` or `worse` for a change."""
    if metric.higher is None:
        return "better" if abs(after - fair) < abs(before - fair) else "worse"
    return "better" if (after > before) == metric.higher else "worse"


def overall(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict of a check: the most severe of its rows."""
    return min(verdicts, key=VERDICTS.index)
