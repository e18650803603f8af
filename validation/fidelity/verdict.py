"""Verdicts: how many repetitions of a result are within a tolerance, and what contradicts its publication."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dumbbell.studies.pathfinding.intervals import share
from validation.fidelity.claims import Claim, ClaimRow, Interval, Limits, Tolerance
from validation.fidelity.published_check import Results
from validation.fidelity.registration import History, Version

PASSING = 0.95
"""The part of the repetitions that has to be within a tolerance."""
FAR = 0.10
"""Relative distance from which on a shown number contradicts the published one."""
UNCOMMITTED = "not judged: the tolerance is not committed"
NEWER = "not judged: the tolerance is newer than the results"


@dataclass(frozen=True)
class Count:
    """How many of the repetitions are within the limits, with the interval of that probability.

    Attributes:
        equal: True if all repetitions are equal: nothing in the set-up is random, and there is no interval.
    """

    within: int
    of: int
    equal: bool = False

    @property
    def passed(self) -> bool:
        """Whether enough are."""
        return self.within >= PASSING * self.of

    @property
    def interval(self) -> Interval:
        """The 95 % interval of Clopper and Pearson."""
        found = share(self.within, self.of, "")
        return found.low or 0.0, found.high or 0.0

    def __str__(self) -> str:
        if self.equal:
            return f"{self.within} of {self.of}, all equal"
        low, high = self.interval
        return f"{self.within} of {self.of} [{low:.0%}, {high:.0%}]"


@dataclass(frozen=True)
class Judgement:
    """What one tolerance says of a row.

    Attributes:
        registered: The commit that set the tolerance, or None.
        refused: Why it may not judge, or an empty string.
        simulated: None if nothing was simulated or the tolerance may not judge it.
        real: Whether values measured with real packets are within, or None.
        real_refused: Why it may not judge those.
        real_outside: True if those are outside, judged or not.
    """

    tolerance: Tolerance
    registered: Version | None
    refused: str = ""
    simulated: Count | None = None
    real: bool | None = None
    real_refused: str = ""
    real_outside: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether all that was judged passed; None if nothing was."""
        judged = [each for each in (self.simulated.passed if self.simulated else None, self.real) if each is not None]
        return all(judged) if judged else None


@dataclass(frozen=True)
class JudgedRow:
    """A row, its values, and what each of its tolerances says, oldest first."""

    row: ClaimRow
    values: tuple[Mapping[str, float], ...]
    real: Mapping[str, float]
    judgements: tuple[Judgement, ...]

    @property
    def passed(self) -> bool | None:
        """The verdict of the latest tolerance; None of what is shown, or may not be judged."""
        return self.judgements[-1].passed if self.judgements else None

    @property
    def missed(self) -> bool:
        """Whether the row is outside the latest tolerance, of real packets also where it may not be judged."""
        return self.passed is False or (bool(self.judgements) and self.judgements[-1].real_outside)

    def medians(self) -> dict[str, float]:
        """Return the median over the repetitions of each metric."""
        return {metric: statistics.median(each[metric] for each in self.values) for metric in _metrics(self.values)}

    def contradictions(self) -> list[str]:
        """Return the metrics that no tolerance judges and that are far from the published number."""
        limits: Limits = self.judgements[-1].tolerance.limits if self.judgements else {}
        with_packets: Limits = self.judgements[-1].tolerance.with_packets if self.judgements else {}
        found = []
        for metric, known in self.row.metrics.items():
            if known.published is None:
                continue
            sources = ((self.medians(), limits), (self.real, with_packets))
            if any(
                metric in has and metric not in judged and distance(has[metric], known.published) > FAR
                for has, judged in sources
            ):
                found.append(metric)
        return found


@dataclass(frozen=True)
class JudgedResult:
    """A published result with the verdicts on its rows."""

    claim: Claim
    results: Results | None
    rows: tuple[JudgedRow, ...]

    @property
    def failed(self) -> str:
        """Why the latest run of its check came to no end, or an empty string."""
        return self.results.failed if self.results else ""

    @property
    def passed(self) -> bool | None:
        """Whether every judged row passes; None where none is judged."""
        judged = [row.passed for row in self.rows if row.passed is not None]
        return False if self.failed else all(judged) if judged else None


def distance(value: float, published: Interval) -> float:
    """Return how far a value is from a published range, relative to the nearer end; 0 within it."""
    low, high = published
    if low <= value <= high:
        return 0.0
    near = low if value < low else high
    return abs(value - near) / abs(near) if near else math.inf


def within(values: Mapping[str, float], limits: Limits) -> bool:
    """Return True if every metric that has limits is within them."""
    return all(low <= values[metric] <= high for metric, (low, high) in limits.items())


def judge(claim: Claim, results: Results | None, past: History) -> JudgedResult:
    """Return the verdicts on what was measured, by the tolerances that were committed before."""
    return JudgedResult(claim, results, tuple(_judged(row, results, past) for row in claim.rows))


def _judged(row: ClaimRow, results: Results | None, past: History) -> JudgedRow:
    simulated = tuple(each[row.key] for each in results.simulated if row.key in each) if results else ()
    real = results.real.values.get(row.key, {}) if results and results.real else {}
    made = past.index_of(results.blob) if results else None
    real_made = past.index_of(results.real.blob) if results and results.real else None
    judgements = []
    for tolerance in row.tolerances:
        first = past.registered(row.key, tolerance)
        limits = {metric: each for metric, each in tolerance.with_packets.items() if metric in real}
        refused, real_refused = _refused(first, made), _refused(first, real_made)
        good = within(real, limits) if limits else None
        judgements.append(
            Judgement(
                tolerance,
                None if first is None else past.versions[first],
                refused if simulated and tolerance.limits else "",
                _count(simulated, tolerance.limits) if simulated and tolerance.limits and not refused else None,
                None if real_refused else good,
                real_refused if good is not None else "",
                good is False,
            )
        )
    return JudgedRow(row, simulated, real, tuple(judgements))


def _refused(first: int | None, made: int | None) -> str:
    """Say why a tolerance may not judge results, by the versions of the claim's file that have both."""
    if first is None:
        return UNCOMMITTED
    return NEWER if made is None or made < first else ""


def _count(values: Sequence[Mapping[str, float]], limits: Limits) -> Count:
    verdicts = [within(each, limits) for each in values]
    return Count(sum(verdicts), len(verdicts), len(values) > 1 and all(each == values[0] for each in values))


def _metrics(values: tuple[Mapping[str, float], ...]) -> list[str]:
    return list(values[0]) if values else []
