"""Verdicts as tables, Markdown and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.catalog.conformance_cases import Suite
from dumbbell.present.tables import Table, markdown
from dumbbell_conformance.judging import FAIL, NOT_REACHED, VERDICTS, Answer, Verdict, name, unit

MARKS = {"pass": "pass", "fail": "**fail**", "not applicable": "-", "not reached": "not reached"}
"""Texts of the verdicts in the matrix of a page."""


def by_case(verdicts: Sequence[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Return verdicts by the label of their case, and by scheme."""
    verdicts_by_case: dict[str, dict[str, Verdict]] = {}
    for verdict in verdicts:
        verdicts_by_case.setdefault(verdict.case.label, {})[verdict.scheme] = verdict
    return verdicts_by_case


MOST_COLUMNS = 6
"""Largest number of schemes with a column each. More schemes have a row each."""


def matrix(verdicts: Sequence[Verdict], plain: bool = True) -> Table:
    """Return a table of cases and schemes; `plain`: without Markdown. Many schemes have a row each."""
    schemes = list(dict.fromkeys(verdict.scheme for verdict in verdicts))
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
    """Return a line for each case that did not simply pass: figure, time and broken rule, or another reason."""
    return [f"{verdict.case.label} {verdict.scheme}: {line}" for verdict in verdicts if (line := reason(verdict))]


def reason(verdict: Verdict) -> str:
    """Return the reason for a verdict, in words; empty if every check passed."""
    failures = [answer for answer in verdict.answers if answer.verdict == FAIL and not answer.check.reach]
    if verdict.verdict != FAIL:
        return f"{verdict.verdict}: {verdict.reason}" if verdict.reason else ""
    parts = ["; ".join(_failure(answer) for answer in failures) or verdict.reason]
    if deviation := verdict.deviation:
        parts.append(f"Known: {deviation.breaks} {deviation.reason}")
    return f"fail: {'. '.join(parts)}"


def _failure(answer: Answer) -> str:
    assert answer.figure is not None, "what failed has a figure"
    packet = "" if answer.packet is None else f", packet {answer.packet}"
    return f"{answer.text} at {answer.figure.at_s:.3f} s{packet}: {answer.check.rule}"


def counts_text(verdicts: Sequence[Verdict]) -> str:
    """Return the number of cases with each verdict, in words."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    return ", ".join(f"{counts[kind]} {kind}" for kind in VERDICTS if counts[kind])


def page(suite: Suite, verdicts: Sequence[Verdict]) -> str:
    """Return the suite's part of a page: the cases, the matrix, and the reason for each failure."""
    cases = list(dict.fromkeys(verdict.case for verdict in verdicts))
    about = Table.of(
        ["case", "section", "transport", "what it says"],
        [(case.label, case.section, ", ".join(case.transports), case.says) for case in cases],
        "rllw",
    )
    parts = [f"## {suite.title}", f"Source: {suite.source}."]
    parts += [suite.note] if suite.note else []
    parts += [
        markdown.render(about),
        markdown.render(matrix(verdicts, plain=False)),
        f"In all: {counts_text(verdicts)}.",
    ]
    listed_verdicts = [verdict for verdict in verdicts if verdict.verdict in (FAIL, NOT_REACHED)]
    if listed_verdicts:
        lines = [f"- Case {verdict.case.label}, `{verdict.scheme}`: {reason(verdict)}" for verdict in listed_verdicts]
        parts += ["Failures, and cases that were not reached:", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def as_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict with its figures as JSON values."""
    case, deviation = verdict.case, verdict.deviation
    return {
        "case": case.label,
        "name": case.name,
        "title": case.title,
        "section": case.section,
        "scheme": verdict.scheme,
        "verdict": verdict.verdict,
        "why": verdict.reason or None,
        "moment_s": verdict.moment_s,
        "known": None if deviation is None else {"breaks": deviation.breaks, "why": deviation.reason},
        "checks": [_check_json(answer) for answer in verdict.answers],
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
        "why": answer.reason or None,
    }
