"""Verdicts: rows within their tolerances, and rows that contradict their publication."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dumbbell_remote.pathfinding.intervals import share
from validation.fidelity.claims import Claim, ClaimRow, Interval, Limits, Tolerance
from validation.fidelity.published_check import Results
from validation.fidelity.registration import History, Version
from validation.fidelity.rule import RULE, Ruling, is_wide, overlap, ruling, simulated_range

PASSING = 0.95
"""Share of the repetitions that has to be within a tolerance by the earlier rule."""
FAR = 0.10
"""Relative distance beyond which a shown number contradicts the published one."""
UNCOMMITTED = "not judged: the tolerance is not committed"
NEWER = "not judged: the tolerance is newer than the results"
NEWER_RULE = "not judged: the rule is newer than the results"
NEWER_ROW = "not judged: `published_runs`, `published` or `change` is newer than the results"


@dataclass(frozen=True)
class Count:
    """Number of repetitions within the limits, with the interval of this probability.

    Attributes:
        equal: True if all repetitions are equal: nothing in the set-up is random, and there is no interval.
    """

    within: int
    total: int
    equal: bool = False

    @property
    def passed(self) -> bool:
        """Return the verdict by the earlier rule."""
        return self.within >= PASSING * self.total

    @property
    def interval(self) -> Interval:
        """Return the 95 % interval of Clopper and Pearson."""
        estimate = share(self.within, self.total, "")
        return estimate.low or 0.0, estimate.high or 0.0

    def __str__(self) -> str:
        if self.equal:
            return f"{self.within} of {self.total}, all equal"
        low, high = self.interval
        return f"{self.within} of {self.total} [{low:.0%}, {high:.0%}]"


@dataclass(frozen=True)
class Judgement:
    """Verdict of one tolerance on a row.

    Attributes:
        version: The commit that set the tolerance, or None.
        refusal: Reason why the simulated row is not judged, or an empty string.
        simulated_count: None if nothing was simulated or the tolerance may not judge it.
        ruling: None if nothing was simulated or the tolerance or the rule may not judge it.
        real: True if the values measured with real packets are within, or None.
        real_refused: Reason why the tolerance may not judge these values, or an empty string.
        real_outside: True if these values are outside, judged or not.
    """

    tolerance: Tolerance
    version: Version | None
    refusal: str = ""
    simulated_count: Count | None = None
    ruling: Ruling | None = None
    real: bool | None = None
    real_refused: str = ""
    real_outside: bool = False

    @property
    def passed(self) -> bool | None:
        """Return the verdict on simulated and real packets; None if one may not be judged, or is uninformative."""
        if self.refusal or self.uninformative:
            return None
        return _all_of(self.ruling.passed if self.ruling else None, self.real)

    @property
    def earlier(self) -> bool | None:
        """Return the verdict by the earlier rule; None if nothing was judged."""
        return _all_of(self.simulated_count.passed if self.simulated_count else None, self.real)

    @property
    def uninformative(self) -> bool:
        """Return True if the simulated range is wider than a factor of two."""
        return self.ruling is not None and bool(self.ruling.wide)


@dataclass(frozen=True)
class JudgedRow:
    """A row, its values, and the verdict of each of its tolerances, oldest first.

    Attributes:
        has_range: True if the rule of the simulated range holds for the results.
    """

    row: ClaimRow
    values: tuple[Mapping[str, float], ...]
    real: Mapping[str, float]
    judgements: tuple[Judgement, ...]
    has_range: bool = False

    @property
    def passed(self) -> bool | None:
        """Return the verdict of the latest tolerance; None if the row is only shown, or may not be judged."""
        return self.judgements[-1].passed if self.judgements else None

    @property
    def missed(self) -> bool:
        """Return True if the row is outside the latest tolerance. Real packets count even if they may not be judged."""
        return self.passed is False or (bool(self.judgements) and self.judgements[-1].real_outside)

    @property
    def uninformative(self) -> bool:
        """Return True if the simulated range is too wide to be judged by the latest tolerance."""
        return bool(self.judgements) and self.judgements[-1].uninformative

    def medians(self) -> dict[str, float]:
        """Return the median over the repetitions of each metric that the claim has."""
        known_metrics = [metric for metric in self.row.metrics if self.values and metric in self.values[0]]
        return {metric: statistics.median(value[metric] for value in self.values) for metric in known_metrics}

    def contradictions(self) -> list[str]:
        """Return the metrics that no tolerance judges and that are far from the published number.

        From within the simulated range a published number contradicts nothing if it is of one run or the range is wide.
        """
        limits: Limits = self.judgements[-1].tolerance.limits if self.judgements else {}
        with_packets: Limits = self.judgements[-1].tolerance.with_packets if self.judgements else {}
        metrics = []
        for metric, row_metric in self.row.metrics.items():
            if row_metric.published_range is None:
                continue
            sources = [(self.real, with_packets)]
            if not self._is_excused(metric, row_metric.published_range):
                sources.append((self.medians(), limits))
            if any(
                metric in has
                and metric not in judged_metrics
                and distance(has[metric], row_metric.published_range) > FAR
                for has, judged_metrics in sources
            ):
                metrics.append(metric)
        return metrics

    def _is_excused(self, metric: str, published_range: Interval) -> bool:
        values = [value[metric] for value in self.values if metric in value]
        if not self.has_range or not values:
            return False
        ends = simulated_range(values)
        wide = is_wide(ends, change=self.row.metrics[metric].change)
        return overlap(published_range, ends) and (wide or self.row.published_runs == 1)


@dataclass(frozen=True)
class JudgedResult:
    """A published result with the verdicts on its rows."""

    claim: Claim
    results: Results | None
    rows: tuple[JudgedRow, ...]

    @property
    def failed(self) -> str:
        """Return the reason why the latest run of its check failed, or an empty string."""
        return self.results.failed if self.results else ""

    @property
    def passed(self) -> bool | None:
        """Return True if every judged row passes; None if none is judged, or the rule is newer than the results."""
        if self.failed:
            return False
        if self.results and self.results.simulated and self.results.rule < RULE:
            return None
        return _all_of(*(row.passed for row in self.rows))

    @property
    def earlier(self) -> bool | None:
        """Return the verdict by the earlier rule; None if none of its rows was judged."""
        return False if self.failed else _all_of(*(row.judgements[-1].earlier for row in self.rows if row.judgements))


def distance(value: float, published_range: Interval) -> float:
    """Return the distance of a value from a published range, relative to the nearer end; 0 within it."""
    low, high = published_range
    if low <= value <= high:
        return 0.0
    near = low if value < low else high
    return abs(value - near) / abs(near) if near else math.inf


def within(values: Mapping[str, float], limits: Limits) -> bool:
    """Return True if every metric that has limits is within them."""
    return all(low <= values[metric] <= high for metric, (low, high) in limits.items())


def judge(claim: Claim, results: Results | None, past: History) -> JudgedResult:
    """Return the verdicts on a check's results, by the tolerances that were committed before."""
    return JudgedResult(claim, results, tuple(_judge_row(row, results, past) for row in claim.rows))


def _judge_row(row: ClaimRow, results: Results | None, past: History) -> JudgedRow:
    simulated_values = (
        tuple(row_values[row.key] for row_values in results.simulated if row.key in row_values) if results else ()
    )
    real = results.real.values.get(row.key, {}) if results and results.real else {}
    version_index = past.index_of(results.blob) if results else None
    real_made = past.index_of(results.real.blob) if results and results.real else None
    newer = (
        NEWER_RULE if results and results.rule < RULE else "" if _asked_then(row, past, version_index) else NEWER_ROW
    )
    judgements = []
    for tolerance in row.tolerances:
        first = past.registered(row.key, tolerance)
        limits = {metric: bounds for metric, bounds in tolerance.with_packets.items() if metric in real}
        refusal, real_refused = _refusal(first, version_index), _refusal(first, real_made)
        good = within(real, limits) if limits else None
        has_limits = bool(simulated_values and tolerance.limits)
        judgements.append(
            Judgement(
                tolerance,
                None if first is None else past.versions[first],
                (refusal or newer) if has_limits else "",
                _count(simulated_values, tolerance.limits) if has_limits and not refusal else None,
                ruling(row, simulated_values, tolerance.limits) if has_limits and not refusal and not newer else None,
                None if real_refused else good,
                real_refused if good is not None else "",
                good is False,
            )
        )
    return JudgedRow(row, simulated_values, real, tuple(judgements), not newer)


def _asked_then(row: ClaimRow, past: History, version_index: int | None) -> bool:
    """Return True if the claim's file of the results has the same questions about the row as now."""
    then = past.versions[version_index].claim.row(row.key) if version_index is not None else None
    return then is not None and _questions(then) == _questions(row)


def _questions(row: ClaimRow) -> list[object]:
    """Return everything that the rule reads from a row, except the limits."""
    is_single = row.published_runs == 1
    return [
        is_single,
        *(
            (name, metric.change, metric.published_range if is_single else None)
            for name, metric in sorted(row.metrics.items())
        ),
    ]


def _refusal(first: int | None, version_index: int | None) -> str:
    """Return the reason why a tolerance may not judge results, from the versions of the claim's file that have both."""
    if first is None:
        return UNCOMMITTED
    return NEWER if version_index is None or version_index < first else ""


def _count(values: Sequence[Mapping[str, float]], limits: Limits) -> Count:
    verdicts = [within(value, limits) for value in values]
    return Count(sum(verdicts), len(verdicts), len(values) > 1 and all(value == values[0] for value in values))


def _all_of(*verdicts: bool | None) -> bool | None:
    """Return True if all given verdicts are passes; None if no verdict is given."""
    given_verdicts = [verdict for verdict in verdicts if verdict is not None]
    return all(given_verdicts) if given_verdicts else None
