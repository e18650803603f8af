"""Verdicts on figures, by the tolerances in the cases."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from dumbbell.catalog.conformance_cases import Case, Check, Deviation
from dumbbell_conformance.measures import MEASURES, Figure, measure
from dumbbell_conformance.view import NotReachedError, RunView, UnseenError

PASS, FAIL, NOT_APPLICABLE, NOT_REACHED = "pass", "fail", "not applicable", "not reached"
VERDICTS = (PASS, FAIL, NOT_APPLICABLE, NOT_REACHED)


@dataclass(frozen=True)
class Answer:
    """Result of one check: the verdict, the figure, and the reason for a missing figure or the broken rule."""

    check: Check
    verdict: str
    figure: Figure | None = None
    reason: str = ""
    packet: int | None = None
    """Number of the last data packet sent before a check failed."""

    @property
    def text(self) -> str:
        """The figure with its unit and the allowed values, in words."""
        if self.figure is None:
            return self.reason
        value = self.figure.value
        is_endless = not isinstance(value, str) and math.isinf(value)
        of_unit = "" if is_endless else _spaced(unit(self.check))
        return f"{name(self.check)} {shown(value)}{of_unit} ({allowed(self.check)})"


@dataclass(frozen=True)
class Verdict:
    """Result of a case with one scheme."""

    case: Case
    scheme: str
    controller: str
    verdict: str
    answers: tuple[Answer, ...] = ()
    reason: str = ""
    moment_s: float | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Verdict on each script, by name, if the case has scripts."""

    @property
    def parts(self) -> Mapping[str, str]:
        """Verdicts on the checks or scripts, by name; empty if the case was not reached or does not apply."""
        if self.verdict not in (PASS, FAIL):
            return {}
        verdicts: dict[str, str] = dict(self.scripts)
        for answer in self.answers:
            if not answer.check.reach:
                verdicts[_unused(name(answer.check), verdicts)] = answer.verdict
        return verdicts

    @property
    def failure(self) -> Answer | None:
        """The first failed check; None without failures."""
        return next((answer for answer in self.answers if answer.verdict == FAIL and not answer.check.reach), None)

    @property
    def deviation(self) -> Deviation | None:
        """The known deviation that explains the failure: the broken sentence, and the reason; None if unknown."""
        return self.case.deviation(self.scheme, self.controller) if self.verdict == FAIL else None


def judge_run(case: Case, scheme: str, controller: str, view: RunView) -> Verdict:
    """Return the verdict on a run."""
    answers = tuple(_answer(view, check) for check in case.checks)
    verdict, reason = _verdict(answers)
    return Verdict(case, scheme, controller, verdict, answers, reason, view.moment_s)


def _unused(text: str, used_names: Container[str]) -> str:
    """Return a name for a check, with a number if another check of the case has the name already."""
    candidates = (text if number == 1 else f"{text} ({number})" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in used_names)


def _answer(view: RunView, check: Check) -> Answer:
    try:
        figure = measure(view, check)
    except UnseenError as error:
        return Answer(check, NOT_APPLICABLE, None, str(error))
    except NotReachedError as error:
        return Answer(check, NOT_REACHED, None, str(error))
    if check.allows(figure.value):
        return Answer(check, PASS, figure)
    try:
        packet = view.packet_at(figure.at_s)
    except UnseenError:
        packet = None
    return Answer(check, FAIL, figure, check.rule, packet)


def _verdict(answers: Sequence[Answer]) -> tuple[str, str]:
    """Return the verdict and its reason. A scenario that did not come about has none; else one failure is enough."""
    for answer in answers:
        if answer.check.reach and answer.verdict in (FAIL, NOT_REACHED):
            return NOT_REACHED, answer.text
    judging = [answer for answer in answers if not answer.check.reach]
    if any(answer.verdict == FAIL for answer in judging):
        return FAIL, ""
    for answer in judging:
        if answer.verdict == NOT_REACHED:
            return NOT_REACHED, answer.reason
    passes = [answer for answer in judging if answer.verdict == PASS]
    if not passes:
        return NOT_APPLICABLE, judging[0].reason
    unseen = [answer for answer in judging if answer.verdict == NOT_APPLICABLE]
    return PASS, f"{len(passes)} of {len(judging)} checks: {unseen[0].reason}" if unseen else ""


_OF_FIELD = {
    "fall": "{} after a fall",
    "falls": "falls of {}",
    "growth": "growth of {}",
    "factor": "growth of {}",
    "doublings": "doublings of the growth of {}",
}
"""Phrases for measures of a field other than its value."""


def name(check: Check) -> str:
    """Return a name for the measure of a check, in words."""
    arguments = check.arguments
    phase = str(arguments.get("phase", ""))
    if check.measure == "phase_after":
        return f"phase after {phase}"
    if check.measure == "visits":
        return f"visits to {', '.join(arguments['phases'])}"
    words = str(arguments.get("field") or arguments.get("event") or check.measure.replace("_", " "))
    if "relative_to" in arguments:
        words += f" / {arguments['relative_to']}"
    if at := arguments.get("at"):
        words = f"{at} of {words}" if at in ("start", "end", "exit") else f"{at} {words}"
    words = _OF_FIELD.get(check.measure, "{}").format(words)
    if phase:
        words += f" of {phase}"
    if check.measure == "time_to":
        bound = arguments.get("above", arguments.get("below"))
        words = f"time until {words} {'above' if 'above' in arguments else 'below'} {bound:g}"
    return words


def unit(check: Check) -> str:
    """Return the unit of a check's figure; empty for a ratio or a word."""
    if check.arguments.get("in_rounds"):
        return "rounds"
    measure_unit = MEASURES[check.measure].unit
    return "" if measure_unit == "phase" else measure_unit


def _spaced(text: str) -> str:
    return f" {text}" if text else ""


def shown(value: float | str) -> str:
    """Return a figure as text."""
    if isinstance(value, str):
        return value
    return "endless" if math.isinf(value) else f"{value:.4g}"


def allowed(check: Check) -> str:
    """Return the values that a check allows, in words."""
    if check.expected:
        return f"allowed: {' or '.join(check.expected)}"
    low, high = check.at_least, check.at_most
    if low is None:
        return f"allowed: at most {high:g}"
    if high is None:
        return f"allowed: at least {low:g}"
    return f"allowed: {low:g}" if low == high else f"allowed: {low:g} to {high:g}"
