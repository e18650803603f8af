"""Verdicts as tables, Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.catalog.conformance_cases import Suite
from dumbbell.present.tables import Table, markdown
from dumbbell.studies.conformance.judging import FAIL, VERDICTS, Answer, Verdict, name, unit

MARKS = {"pass": "pass", "fail": "**fail**", "not applicable": "-", "not reached": "not reached"}
"""Verdicts in a matrix of a page."""


def by_case(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Return verdicts by the label of their case, and by scheme."""
    found: dict[str, dict[str, Verdict]] = {}
    for each in verdicts:
        found.setdefault(each.case.label, {})[each.scheme] = each
    return found


def matrix(verdicts: Sequence[Verdict], plain: bool = True) -> Table:
    """Return a row for each case and a column for each scheme; `plain` has words alone, as for a terminal."""
    schemes = list(dict.fromkeys(each.scheme for each in verdicts))
    rows = []
    for label, cells in by_case(verdicts).items():
        title = next(iter(cells.values())).case.title
        texts = [cells[scheme].verdict if plain else MARKS[cells[scheme].verdict] for scheme in schemes]
        rows.append([label, title, *texts])
    heads = schemes if plain else [f"`{scheme}`" for scheme in schemes]
    return Table.of(["case", "title", *heads], rows, "rw" + "l" * len(schemes))


def reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for each case that is not simply passed: what failed where, which rule, or why it says nothing."""
    return [f"{each.case.label} {each.scheme}: {line}" for each in verdicts if (line := reason(each))]


def reason(verdict: Verdict) -> str:
    """Return in words why a verdict is what it is; empty if every check passed."""
    failed = [each for each in verdict.answers if each.verdict == FAIL and not each.check.reach]
    if verdict.verdict != FAIL:
        return f"{verdict.verdict}: {verdict.why}" if verdict.why else ""
    parts = ["; ".join(_failure(each) for each in failed)]
    if known := verdict.deviation:
        parts.append(f"known: {known.breaks} {known.why}")
    return f"fail: {' '.join(parts)}"


def _failure(answer: Answer) -> str:
    assert answer.figure is not None, "what failed has a figure"
    packet = "" if answer.packet is None else f", packet {answer.packet}"
    return f"{answer.text} at {answer.figure.at_s:.3f} s{packet}: {answer.check.rule}"


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many cases have which verdict, in words."""
    counts = Counter(each.verdict for each in verdicts)
    return ", ".join(f"{counts[each]} {each}" for each in VERDICTS if counts[each])


def page(suite: Suite, verdicts: Sequence[Verdict]) -> str:
    """Return the suite's part of a page: the matrix, every figure, and every reason."""
    parts = [f"## {suite.title}", f"Source: {suite.source}."]
    parts += [suite.note] if suite.note else []
    parts += [markdown.render(matrix(verdicts, plain=False)), f"In all: {counted(verdicts)}."]
    lines = [f"- {_quoted(each)}" for each in verdicts if reason(each) and each.verdict != "not applicable"]
    if lines:
        parts += ["Failures, and cases that were not reached:", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _quoted(verdict: Verdict) -> str:
    return f"case {verdict.case.label}, `{verdict.scheme}`: {reason(verdict)}"


def figures(verdicts: Sequence[Verdict]) -> Table:
    """Return a row for each check with a figure: case, scheme, what was measured, what is allowed and why."""
    rows = []
    for verdict in verdicts:
        for each in verdict.answers:
            if each.figure is not None:
                rows.append([verdict.case.label, f"`{verdict.scheme}`", each.text, each.verdict])
    return Table.of(["case", "scheme", "figure", "verdict"], rows, "rlwl")


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
