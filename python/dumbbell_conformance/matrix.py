"""Verdicts as tables, Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.catalog.conformance_cases import Suite
from dumbbell.present.tables import Table, markdown
from dumbbell_conformance.judging import FAIL, NOT_REACHED, VERDICTS, Answer, Verdict, name, unit

MARKS = {"pass": "pass", "fail": "**fail**", "not applicable": "-", "not reached": "not reached"}
"""Verdicts in a matrix of a page."""


def by_case(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Return verdicts by the label of their case, and by scheme."""
    found: dict[str, dict[str, Verdict]] = {}
    for each in verdicts:
        found.setdefault(each.case.label, {})[each.scheme] = each
    return found


MOST_COLUMNS = 6
"""Schemes that have a column each; of more each has a row."""


def matrix(verdicts: Sequence[Verdict], plain: bool = True) -> Table:
    """Return cases by schemes; `plain` has words alone, as for a terminal. Of many schemes each has a row."""
    schemes = list(dict.fromkeys(each.scheme for each in verdicts))
    cases = by_case(verdicts)

    def text(verdict: Verdict) -> str:
        return verdict.verdict if plain else MARKS[verdict.verdict]

    def named(scheme: str) -> str:
        return scheme if plain else f"`{scheme}`"

    if len(schemes) > MOST_COLUMNS:
        rows = [[named(scheme), *(text(cells[scheme]) for cells in cases.values())] for scheme in schemes]
        return Table.of(["scheme", *cases], rows, "l" * (1 + len(cases)))
    rows = []
    for label, cells in cases.items():
        title = next(iter(cells.values())).case.title
        rows.append([label, title, *(text(cells[scheme]) for scheme in schemes)])
    return Table.of(["case", "title", *map(named, schemes)], rows, "rw" + "l" * len(schemes))


def reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for each case that is not simply passed: what failed where, which rule, or why it says nothing."""
    return [f"{each.case.label} {each.scheme}: {line}" for each in verdicts if (line := reason(each))]


def reason(verdict: Verdict) -> str:
    """Return in words why a verdict is what it is; empty if every check passed."""
    failed = [each for each in verdict.answers if each.verdict == FAIL and not each.check.reach]
    if verdict.verdict != FAIL:
        return f"{verdict.verdict}: {verdict.why}" if verdict.why else ""
    parts = ["; ".join(_failure(each) for each in failed) or verdict.why]
    if known := verdict.deviation:
        parts.append(f"Known: {known.breaks} {known.why}")
    return f"fail: {'. '.join(parts)}"


def _failure(answer: Answer) -> str:
    assert answer.figure is not None, "what failed has a figure"
    packet = "" if answer.packet is None else f", packet {answer.packet}"
    return f"{answer.text} at {answer.figure.at_s:.3f} s{packet}: {answer.check.rule}"


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many cases have which verdict, in words."""
    counts = Counter(each.verdict for each in verdicts)
    return ", ".join(f"{counts[each]} {each}" for each in VERDICTS if counts[each])


def page(suite: Suite, verdicts: Sequence[Verdict]) -> str:
    """Return the suite's part of a page: what the cases say, the matrix, and the reason of each failure."""
    cases = list(dict.fromkeys(each.case for each in verdicts))
    about = Table.of(
        ["case", "section", "transport", "what it says"],
        [(each.label, each.section, ", ".join(each.transports), each.says) for each in cases],
        "rllw",
    )
    parts = [f"## {suite.title}", f"Source: {suite.source}."]
    parts += [suite.note] if suite.note else []
    parts += [markdown.render(about), markdown.render(matrix(verdicts, plain=False)), f"In all: {counted(verdicts)}."]
    shown = [each for each in verdicts if each.verdict in (FAIL, NOT_REACHED)]
    if shown:
        lines = [f"- Case {each.case.label}, `{each.scheme}`: {reason(each)}" for each in shown]
        parts += ["Failures, and cases that were not reached:", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def as_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict with its figures as JSON has it."""
    case, known = verdict.case, verdict.deviation
    return {
        "case": case.label,
        "name": case.name,
        "title": case.title,
        "section": case.section,
        "scheme": verdict.scheme,
        "verdict": verdict.verdict,
        "why": verdict.why or None,
        "moment_s": verdict.moment_s,
        "known": None if known is None else {"breaks": known.breaks, "why": known.why},
        "checks": [_check_json(each) for each in verdict.answers],
    }


def _check_json(answer: Answer) -> dict[str, object]:
    check, figure = answer.check, answer.figure
    value = None if figure is None else figure.value
    return {
        "measure": check.measure,
        "of": name(check),
        "unit": unit(check) or None,
        "value": value if isinstance(value, str) or value is None or abs(value) < float("inf") else None,
        "at_s": None if figure is None else figure.at_s,
        "packet": answer.packet,
        "at_least": check.at_least,
        "at_most": check.at_most,
        "expected": list(check.expected) or None,
        "because": check.because,
        "rule": check.rule or None,
        "reach": check.reach,
        "verdict": answer.verdict,
        "why": answer.why or None,
    }
