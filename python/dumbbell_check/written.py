"""A check as text for people and for CI: terminal, Markdown, annotations, JUnit XML and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from dumbbell.base.errors import printable
from dumbbell.present.tables import Table
from dumbbell.results.series.samples import value_names
from dumbbell_check.judging import FALSE_ALARM, Judgement, overall

if TYPE_CHECKING:
    from dumbbell_check.comparison import CellResult
    from dumbbell_check.first_difference import FirstDifference, StateField

MOST_ANNOTATIONS = 10
"""Annotations of one kind that GitHub shows of a step."""
_DIGITS = 4
_COLUMNS = ("cell", "quantity", "baseline", "candidate", "difference", "noise", "runs", "answer")


def number(value: float | None) -> str:
    """Return a number with four significant digits; `-` for none."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0.0:
        return "0"
    digits = max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}"


def _as_effect(row: Judgement, value: float) -> tuple[float, str]:
    """Return a difference as wanted effects are given, with its unit: in percent of the baseline, or as it is."""
    if row.metric.relative and row.baseline:
        return 100.0 * value / abs(row.baseline), "%"
    return value, "points" if row.metric.unit == "%" else row.metric.unit


def _digits(unit: str, of_percent: int) -> int:
    return of_percent if unit == "%" else 3


def difference_text(row: Judgement) -> str:
    """Return the difference of a row with its unit, relative to the baseline where effects are."""
    if row.difference is None:
        return "-"
    value, unit = _as_effect(row, row.difference)
    return f"{value:+.{_digits(unit, 2)}f} {unit}".rstrip()


def noise_text(row: Judgement) -> str:
    """Return the half-width of the interval of the difference, in the unit of the difference."""
    if row.low is None or row.high is None:
        return "-"
    value, unit = _as_effect(row, (row.high - row.low) / 2.0)
    return f"± {value:.{_digits(unit, 2)}f}" + (" %" if unit == "%" else "")


def sees_text(row: Judgement) -> str:
    """Return the smallest difference that the runs of a row would have shown in 80 of 100 cases."""
    if row.would_show is None:
        return "-"
    value, unit = _as_effect(row, row.would_show)
    return f"{value:.{_digits(unit, 1)}f} {unit}".rstrip()


def answer_text(row: Judgement) -> str:
    """Return the answer of a row; of one that is not resolved, what could have been seen."""
    if row.verdict == "worse" and row.rule:
        return "worse: unsafe"
    if row.verdict != "not resolved":
        return row.verdict
    return f"not resolved: sees {sees_text(row)}" if row.would_show is not None else f"not resolved: {row.reason}"


def table(results: Iterable[CellResult], *, everything: bool) -> Table:
    """Return the rows of a check: all of them, or those that are not the same."""
    rows = []
    for result in results:
        for row in result.judgements:
            if everything or row.verdict != "same":
                rows.append(
                    (
                        result.cell.name,
                        row.metric.title,
                        f"{number(row.baseline)} {row.metric.unit}".rstrip(),
                        f"{number(row.candidate)} {row.metric.unit}".rstrip(),
                        difference_text(row),
                        noise_text(row),
                        str(row.runs),
                        answer_text(row),
                    )
                )
    return Table.of(list(_COLUMNS), rows)


def packets_headline(results: Sequence[CellResult], candidate: str, baseline: str) -> str:
    """Return in one sentence in which cells packet logs differ."""
    differing = [each.cell.name for each in results if each.compares_packets and not each.identical]
    cells = _cells(sum(each.compares_packets for each in results))
    if not differing:
        return f"same: {candidate} beside {baseline}: packet logs are equal in {cells}"
    return (
        f"not the same: {candidate} beside {baseline}: packet logs differ in {len(differing)} of {cells}: "
        f"{', '.join(differing)}"
    )


def headline(results: Sequence[CellResult], candidate: str, baseline: str) -> str:
    """Return the answer of a check in one sentence."""
    rows = [row for result in results for row in result.judgements]
    verdict = overall([result.verdict for result in results])
    counts = {each: sum(row.verdict == each for row in rows) for each in ("worse", "better", "not resolved", "same")}
    failed = [result.cell.name for result in results if result.failures]
    equal = sum(result.identical for result in results)
    rules = sum(result.is_rule for result in results)
    cells = sum(result.compares_packets for result in results)
    where = [_cells(cells)] if cells or not rules else []
    where += [f"{rules} rules of safety"] if rules > 1 else ["1 rule of safety"] if rules else []
    said = f"{verdict}: {candidate} beside {baseline}: {len(rows)} quantities in {' and '.join(where)}: "
    said += ", ".join(f"{count} {each}" for each, count in counts.items() if count)
    if equal:
        said += f"; packet logs are equal in {'all cells' if equal == cells else _cells(equal)}"
    unsafe = [each.cell.name for each in results if any(row.rule and row.verdict == "worse" for row in each.judgements)]
    if unsafe:
        said += f"; unsafe: {', '.join(unsafe)}"
    if failed:
        said += f"; runs failed in {', '.join(failed)}"
    return said


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def notes(results: Iterable[CellResult]) -> list[str]:
    """Return what has to be known beside the table: chaos, failures, and the first packets that differ."""
    said = []
    for result in results:
        name = result.cell.name
        if result.chaos is not None:
            chaos = result.chaos
            said.append(
                f"{name}: chaotic: a path that is 1 ns longer moves the {chaos.metric} of the {chaos.side} by "
                f"{number(chaos.moved)} {chaos.unit}: all runs of both sides are compared, not pairs"
            )
        said += [f"{name}: {line}" for row in result.judgements if (line := _unsafe(row))]
        said += [f"{name}: of the candidate only: {text}" for text in result.conduct]
        said += [f"{name}: candidate failed: {failure}" for failure in result.failures]
        if result.difference is not None:
            said += [f"{name}: {line}" for line in difference_lines(result.difference)]
    return said


def _unsafe(row: Judgement) -> str:
    """Return which rule of safety a candidate breaks, and where; empty of what is in order."""
    if not row.rule or not row.reason or row.verdict not in ("worse", "same"):
        return ""
    whose = "unsafe" if row.verdict == "worse" else "both sides break this rule"
    return f"{whose}: {row.reason}"


def difference_lines(found: FirstDifference) -> list[str]:
    """Return where two logs part, and the state of both senders there."""
    sides = (("baseline", found.baseline), ("candidate", found.candidate))
    told = "; ".join(f"{name}: {event or 'nothing more'}" for name, event in sides)
    lines = [f"first packet that differs, in run {found.run}: {told}"]
    if found.state:
        lines.append(f"state there, of baseline and candidate: {', '.join(map(_state_text, found.state))}")
    return lines


def _state_text(of: StateField) -> str:
    """Return a field of both senders, with its unit, or with the names of its values."""
    names = value_names(of.unit)
    if names:
        first, second = (names.get(value, number(value)) if value is not None else "-" for value in of.sides)
        return f"{of.field} {first} and {second}"
    return f"{of.field} {number(of.baseline)} and {number(of.candidate)} {of.unit.split(',')[0]}".rstrip()


LEGEND = (
    "Difference: candidate minus baseline. Noise: half of the interval that all quantities together miss with "
    f"probability {FALSE_ALARM:g}. A change is reported if it exceeds half of the wanted effect and the noise; the "
    "answer is `same` if the wanted effect is excluded. Not resolved: the smallest difference that these runs would "
    "have shown in 80 of 100 cases."
)
"""Legend of the table."""


def markdown_text(results: Sequence[CellResult], answer: str, remarks: Sequence[str]) -> str:
    """Return the check as Markdown, for a step summary or a comment."""
    from dumbbell.present.tables import markdown

    changed = table(results, everything=False)
    parts = [f"## dumbbell check: {answer}"]
    if changed.rows:
        parts.append(markdown.render(changed))
    said = [*notes(results), *remarks]
    if said:
        parts.append("\n".join(f"- {escape(printable(line))}" for line in said))
    parts.append(f"<details><summary>All quantities</summary>\n\n{markdown.render(table(results, everything=True))}")
    parts.append(f"{LEGEND}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def annotation_lines(results: Sequence[CellResult], candidate: str, file: str = "") -> list[str]:
    """Return workflow commands of GitHub Actions: the worst rows as errors, what is not resolved as warnings."""
    rows = [(result, row) for result in results for row in result.judgements]
    rows.sort(key=lambda each: -each[1].size)
    lines = []
    for kind, verdict in (("error", "worse"), ("warning", "not resolved")):
        chosen = [(result, row) for result, row in rows if row.verdict == verdict][:MOST_ANNOTATIONS]
        for result, row in chosen:
            title = f"dumbbell check: {result.cell.name}: {row.metric.title} {row.verdict}"
            text = (
                f"{candidate}: {number(row.baseline)} {row.metric.unit} before, {number(row.candidate)} now "
                f"({difference_text(row)}, noise {noise_text(row)}, {row.runs} runs)"
            )
            lines.append(_annotation(kind, title, text, file))
    for result in results:
        lines += [
            _annotation("error", f"dumbbell check: {result.cell.name}: failed", failure, file)
            for failure in result.failures[:1]
        ]
    return lines


def _annotation(kind: str, title: str, text: str, file: str) -> str:
    """Return a workflow command (docs.github.com, Workflow commands for GitHub Actions)."""
    data = printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    properties = {"file": file, "title": printable(title)} if file else {"title": printable(title)}
    written = ",".join(
        f"{key}={value.replace('%', '%25').replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    )
    return f"::{kind} {written}::{data}"


def junit_text(results: Sequence[CellResult], candidate: str, strict: bool) -> str:
    """Return the check as JUnit XML: a test case for each quantity of each cell."""
    cases = []
    failures = skipped = 0
    for result in results:
        for row in result.judgements:
            inner = ""
            message = f"{difference_text(row)}, noise {noise_text(row)}, {row.runs} runs"
            if row.verdict == "worse" or result.failures or (strict and row.verdict == "not resolved"):
                failures += 1
                reason = "; ".join(filter(None, [message, _unsafe(row), *result.failures]))
                lines = [] if result.difference is None else difference_lines(result.difference)
                inner = (
                    f"<failure message={quoteattr(printable(reason))}>{escape(printable(' '.join(lines)))}</failure>"
                )
            elif row.verdict == "not resolved":
                skipped += 1
                inner = f"<skipped message={quoteattr(printable(answer_text(row)))}/>"
            attributes = f'classname="dumbbell.check.{result.cell.name}" name={quoteattr(row.metric.name)}'
            cases.append(f"  <testcase {attributes}>{inner}</testcase>")
    head = f'<testsuite name={quoteattr("dumbbell check " + printable(candidate))} tests="{len(cases)}" '
    head += f'failures="{failures}" errors="0" skipped="{skipped}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"]) + "\n"


def as_json(results: Sequence[CellResult]) -> list[dict[str, object]]:
    """Return the cells of a check as JSON values."""
    return [
        {
            "cell": result.cell.name,
            "title": result.cell.experiment.title,
            "verdict": result.verdict,
            "identical": result.identical,
            "failures": list(result.failures),
            "conduct": list(result.conduct),
            "chaos": None if result.chaos is None else vars(result.chaos),
            "quantities": [
                {
                    "quantity": row.metric.name,
                    "metric": row.metric.metric,
                    "unit": row.metric.unit,
                    "verdict": row.verdict,
                    "baseline": row.baseline,
                    "candidate": row.candidate,
                    "difference": row.difference,
                    "low": row.low,
                    "high": row.high,
                    "wanted_effect": row.effect,
                    "would_show": row.would_show,
                    "runs": row.runs,
                    "paired": row.paired,
                    "rule": row.rule or None,
                    "reason": row.reason or None,
                }
                for row in result.judgements
            ],
            "first_difference": None if result.difference is None else _difference_json(result.difference),
        }
        for result in results
    ]


def _difference_json(found: FirstDifference) -> dict[str, object]:
    return {
        "run": found.run,
        "time_s": found.time_s,
        "baseline": None if found.baseline is None else vars(found.baseline),
        "candidate": None if found.candidate is None else vars(found.candidate),
        "state": [vars(each) for each in found.state],
    }
