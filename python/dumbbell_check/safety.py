"""Safety rules. The verdict is `worse` if a candidate breaks a bound that the baseline keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.base.backend import SIMULATION
from dumbbell.catalog.check_suite import CheckCell, JudgedMetric, rule_name
from dumbbell.catalog.conformance_cases import Case, Check, find_suite
from dumbbell_check.judging import Judgement, Verdict as Answered
from dumbbell_conformance import judging
from dumbbell_conformance.checking import Perform, verdicts
from dumbbell_conformance.judging import Answer, Verdict

if TYPE_CHECKING:
    from dumbbell.base.progress import Progress
    from dumbbell.catalog.scheme import Scheme

FACTOR = 1.5
"""Ratio to the other side's figure from which a figure beyond its bound counts, so that chance does not decide."""

Figures = Mapping[str, float]
"""Figures of a case by the number of their check, from `1`; a missing figure is absent."""


@dataclass(frozen=True)
class SideFigures:
    """Figures of a side in a case."""

    figures: Figures
    verdict: Verdict | None = None
    """None if the figures come from a file."""


def figures_by_rule(
    cases: Sequence[Case], schemes: Mapping[str, Scheme], folder: Path, perform: Perform, progress: Progress
) -> dict[str, dict[str, SideFigures]]:
    """Return the figures of each scheme in each case, by the names of rule and scheme.

    Raises:
        UserError: If a case cannot be run.
        KeyboardInterrupt: If the check was interrupted.
    """
    figures: dict[str, dict[str, SideFigures]] = {}
    for suite in dict.fromkeys(case.suite for case in cases):
        suite_cases = [case for case in cases if case.suite == suite]
        suite_verdicts = verdicts(
            find_suite(suite), suite_cases, schemes, SIMULATION, folder / suite, perform, _no_scripts, progress
        )
        for verdict in suite_verdicts:
            figures.setdefault(rule_name(verdict.case), {})[verdict.scheme] = SideFigures(_figures(verdict), verdict)
    return figures


def _no_scripts(group: str, scheme: Scheme) -> Any:  # noqa: ANN401 (never returns)
    raise AssertionError(f"the script {group} of {scheme.name} is no rule of safety")


def _figures(verdict: Verdict) -> Figures:
    return {
        str(place): float(answer.figure.value)
        for place, answer in enumerate(verdict.answers, 1)
        if answer.figure is not None and not isinstance(answer.figure.value, str)
    }


def cell_of(case: Case) -> CheckCell:
    """Return a case as a cell of a check."""
    assert case.scenario is not None, f"{case.file} has no scenario"
    return CheckCell(rule_name(case), replace(case.scenario, title=case.title), (), 1)


def judgements(case: Case, baseline: SideFigures, candidate: SideFigures) -> list[Judgement]:
    """Return a row for each check of a case that a side reaches."""
    assert candidate.verdict is not None, "a candidate runs"
    answers = candidate.verdict.answers
    if not answers:
        if not baseline.figures:
            return []
        metric = JudgedMetric(case.name, "", case.title, "", higher=None)
        answer: Answered = "worse" if candidate.verdict.verdict == judging.NOT_REACHED else "not resolved"
        return [Judgement(metric, answer, None, None, 1, reason=candidate.verdict.reason, rule=case.section)]
    return [
        row
        for place, answer in enumerate(answers, 1)
        if not answer.check.reach and (row := _row(answer, baseline.figures.get(str(place)))) is not None
    ]


def _row(answer: Answer, before: float | None) -> Judgement | None:
    check = answer.check
    higher = check.at_least is not None and check.at_most is None
    metric = JudgedMetric(check.measure, check.measure, judging.name(check), judging.unit(check), higher=higher)
    if answer.figure is None or isinstance(answer.figure.value, str):
        if before is None:
            return None
        return Judgement(metric, "not resolved", before, None, 1, reason=answer.reason, rule=check.rule)
    after = answer.figure.value
    difference = None if before is None else after - before
    packet = "" if answer.packet is None else f", packet {answer.packet}"
    reason = ""
    if not check.allows(after):
        reason = f"{answer.text} at {answer.figure.at_s:.3f} s{packet}: {check.rule}"
    return Judgement(
        metric, compared(check, before, after), before, after, 1, True, difference, None, reason=reason, rule=check.rule
    )


def compared(check: Check, before: float | None, after: float) -> Answered:
    """Return the verdict of a check from both figures; `before` is None if the baseline has no figure."""
    if not check.allows(after) and (before is None or _is_beyond(check, after, before)):
        return "worse"
    if before is not None and not check.allows(before) and check.allows(after) and _is_beyond(check, before, after):
        return "better"
    return "same"


def _is_beyond(check: Check, figure: float, other: float) -> bool:
    """Return True if a figure beyond a bound is also far from another figure, in the direction of the violation."""
    if check.at_most is not None and figure > check.at_most:
        return figure >= FACTOR * other
    return figure < other and figure <= other / FACTOR
