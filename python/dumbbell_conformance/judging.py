"""From figures to verdicts, by the tolerances that the cases state."""

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
    """Result of one check: a verdict, the figure, and in words why there is none, or which rule is broken."""

    check: Check
    verdict: str
    figure: Figure | None = None
    why: str = ""
    packet: int | None = None
    """The last data packet that had been sent when a check failed."""

    @property
    def text(self) -> str:
        """The figure with its unit and what is allowed, in words."""
        if self.figure is None:
            return self.why
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
    why: str = ""
    moment_s: float | None = None
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Verdict on each script of a case that has scripts, by the name of the script."""

    @property
    def parts(self) -> Mapping[str, str]:
        """The verdict on each check or script by its name; empty of a case that was not reached or does not apply."""
        if self.verdict not in (PASS, FAIL):
            return {}
        found: dict[str, str] = dict(self.scripts)
        for each in self.answers:
            if not each.check.reach:
                found[_unused(name(each.check), found)] = each.verdict
        return found

    @property
    def failure(self) -> Answer | None:
        """The first check that failed, None if none did."""
        return next((each for each in self.answers if each.verdict == FAIL and not each.check.reach), None)

    @property
    def deviation(self) -> Deviation | None:
        """The failure as far as it is known: the sentence that is broken, and why."""
        return self.case.deviation(self.scheme, self.controller) if self.verdict == FAIL else None


def judged(case: Case, scheme: str, controller: str, view: RunView) -> Verdict:
    """Return the verdict on a run."""
    answers = tuple(_answer(view, check) for check in case.checks)
    verdict, why = _verdict(answers)
    return Verdict(case, scheme, controller, verdict, answers, why, view.moment_s)


def _unused(text: str, taken: Container[str]) -> str:
    """Return a name of a check, with a number if another check of the case has the name already."""
    numbered = (text if number == 1 else f"{text} ({number})" for number in count(1))
    return next(each for each in numbered if each not in taken)


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
    """A scenario that did not come about says nothing; else one failure is enough."""
    for each in answers:
        if each.check.reach and each.verdict in (FAIL, NOT_REACHED):
            return NOT_REACHED, each.text
    judging = [each for each in answers if not each.check.reach]
    if any(each.verdict == FAIL for each in judging):
        return FAIL, ""
    for each in judging:
        if each.verdict == NOT_REACHED:
            return NOT_REACHED, each.why
    seen = [each for each in judging if each.verdict == PASS]
    if not seen:
        return NOT_APPLICABLE, judging[0].why
    unseen = [each for each in judging if each.verdict == NOT_APPLICABLE]
    return PASS, f"{len(seen)} of {len(judging)} checks: {unseen[0].why}" if unseen else ""


_OF_FIELD = {
    "fall": "{} after a fall",
    "falls": "falls of {}",
    "growth": "growth of {}",
    "factor": "growth of {}",
    "doublings": "doublings of the growth of {}",
}
"""Measurements of a field other than its value."""


def name(check: Check) -> str:
    """Return what a check measures, in words."""
    arguments = check.arguments
    phase = str(arguments.get("phase", ""))
    if check.measure == "phase_after":
        return f"phase after {phase}"
    if check.measure == "visits":
        return f"visits to {', '.join(arguments['phases'])}"
    what = str(arguments.get("field") or arguments.get("event") or check.measure.replace("_", " "))
    if "relative_to" in arguments:
        what += f" / {arguments['relative_to']}"
    if at := arguments.get("at"):
        what = f"{at} of {what}" if at in ("start", "end", "exit") else f"{at} {what}"
    what = _OF_FIELD.get(check.measure, "{}").format(what)
    if phase:
        what += f" of {phase}"
    if check.measure == "time_to":
        bound = arguments.get("above", arguments.get("below"))
        what = f"time until {what} {'above' if 'above' in arguments else 'below'} {bound:g}"
    return what


def unit(check: Check) -> str:
    """Return the unit of a check's figure, empty for a ratio or a word."""
    if check.arguments.get("in_rounds"):
        return "rounds"
    found = MEASURES[check.measure].unit
    return "" if found == "phase" else found


def _spaced(text: str) -> str:
    return f" {text}" if text else ""


def shown(value: float | str) -> str:
    """Return a figure as text."""
    if isinstance(value, str):
        return value
    return "endless" if math.isinf(value) else f"{value:.4g}"


def allowed(check: Check) -> str:
    """Return what a check allows, in words."""
    if check.expected:
        return f"allowed: {' or '.join(check.expected)}"
    low, high = check.at_least, check.at_most
    if low is None:
        return f"allowed: at most {high:g}"
    if high is None:
        return f"allowed: at least {low:g}"
    return f"allowed: {low:g}" if low == high else f"allowed: {low:g} to {high:g}"
