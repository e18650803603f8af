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
"""Maximum number of annotations of one kind that GitHub shows for a step."""
_DIGITS = 4
_COLUMNS = ("cell", "quantity", "baseline", "candidate", "difference", "noise", "runs", "answer")


def number(value: float | None) -> str:
    """Return a number with four significant digits; `-` for None."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0.0:
        return "0"
    digits = max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}"


def _as_effect(row: Judgement, value: float) -> tuple[float, str]:
    """Return a difference in the form of wanted effects, with its unit: in percent of the baseline, or unchanged."""
    if row.metric.relative and row.baseline:
        return 100.0 * value / abs(row.baseline), "%"
    return value, "points" if row.metric.unit == "%" else row.metric.unit


def _digits(unit: str, of_percent: int) -> int:
    return of_percent if unit == "%" else 3


def difference_text(row: Judgement) -> str:
    """Return the difference of a row with its unit, relative to the baseline if the effect is."""
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
    """Return the verdict of a row; for an unresolved one, with the smallest visible difference."""
    if row.verdict == "worse" and row.rule:
        return "worse: unsafe"
    if row.verdict != "not resolved":
        return row.verdict
    return f"not resolved: sees {sees_text(row)}" if row.would_show is not None else f"not resolved: {row.reason}"


def table(results: Iterable[CellResult], *, with_equal: bool) -> Table:
    """Return the rows of a check, with or without those whose verdict is `same`."""
    rows = []
    for result in results:
        for row in result.judgements:
            if with_equal or row.verdict != "same":
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
    """Return a sentence with the cells whose packet logs differ."""
    differing = [result.cell.name for result in results if result.compares_packets and not result.identical]
    cells = _cells(sum(result.compares_packets for result in results))
    if not differing:
        return f"same: {candidate} beside {baseline}: packet logs are equal in {cells}"
    return (
        f"not the same: {candidate} beside {baseline}: packet logs differ in {len(differing)} of {cells}: "
        f"{', '.join(differing)}"
    )


def headline(results: Sequence[CellResult], candidate: str, baseline: str) -> str:
    """Return the verdict of a check in one sentence."""
    rows = [row for result in results for row in result.judgements]
    verdict = overall([result.verdict for result in results])
    counts = {
        verdict_: sum(row.verdict == verdict_ for row in rows)
        for verdict_ in ("worse", "better", "not resolved", "same")
    }
    failed_cells = [result.cell.name for result in results if result.failures]
    equal = sum(result.identical for result in results)
    rules = sum(result.is_rule for result in results)
    cells = sum(result.compares_packets for result in results)
    places = [_cells(cells)] if cells or not rules else []
    places += [f"{rules} rules of safety"] if rules > 1 else ["1 rule of safety"] if rules else []
    sentence = f"{verdict}: {candidate} beside {baseline}: {len(rows)} quantities in {' and '.join(places)}: "
    sentence += ", ".join(f"{count} {verdict_}" for verdict_, count in counts.items() if count)
    if equal:
        sentence += f"; packet logs are equal in {'all cells' if equal == cells else _cells(equal)}"
    unsafe = [
        result.cell.name for result in results if any(row.rule and row.verdict == "worse" for row in result.judgements)
    ]
    if unsafe:
        sentence += f"; unsafe: {', '.join(unsafe)}"
    if failed_cells:
        sentence += f"; runs failed in {', '.join(failed_cells)}"
    return sentence


def _cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"


def notes(results: Iterable[CellResult]) -> list[str]:
    """Return the notes on a table: chaos, failures, and the first packets that differ."""
    lines = []
    for result in results:
        name = result.cell.name
        if result.chaos is not None:
            chaos = result.chaos
            lines.append(
                f"{name}: chaotic: a path that is 1 ns longer moves the {chaos.metric} of the {chaos.side} by "
                f"{number(chaos.moved)} {chaos.unit}: all runs of both sides are compared, not pairs"
            )
        lines += [f"{name}: {line}" for row in result.judgements if (line := _unsafe(row))]
        lines += [f"{name}: of the candidate only: {text}" for text in result.conduct]
        lines += [f"{name}: candidate failed: {failure}" for failure in result.failures]
        if result.difference is not None:
            lines += [f"{name}: {line}" for line in difference_lines(result.difference)]
    return lines


def _unsafe(row: Judgement) -> str:
    """Return the safety rule that a candidate breaks, and the place; else empty."""
    if not row.rule or not row.reason or row.verdict not in ("worse", "same"):
        return ""
    prefix = "unsafe" if row.verdict == "worse" else "both sides break this rule"
    return f"{prefix}: {row.reason}"


def difference_lines(difference: FirstDifference) -> list[str]:
    """Return the point where two logs diverge, and the state of both senders there."""
    sides = (("baseline", difference.baseline), ("candidate", difference.candidate))
    events = "; ".join(f"{name}: {event or 'nothing more'}" for name, event in sides)
    lines = [f"first packet that differs, in run {difference.run}: {events}"]
    if difference.state:
        lines.append(f"state there, of baseline and candidate: {', '.join(map(_state_text, difference.state))}")
    return lines


def _state_text(state_field: StateField) -> str:
    """Return a field of both senders, with its unit, or with the names of its values."""
    names = value_names(state_field.unit)
    if names:
        first, second = (names.get(value, number(value)) if value is not None else "-" for value in state_field.sides)
        return f"{state_field.field} {first} and {second}"
    values = f"{number(state_field.baseline)} and {number(state_field.candidate)}"
    return f"{state_field.field} {values} {state_field.unit.split(',')[0]}".rstrip()


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

    changes = table(results, with_equal=False)
    parts = [f"## dumbbell check: {answer}"]
    if changes.rows:
        parts.append(markdown.render(changes))
    lines = [*notes(results), *remarks]
    if lines:
        parts.append("\n".join(f"- {escape(printable(line))}" for line in lines))
    parts.append(f"<details><summary>All quantities</summary>\n\n{markdown.render(table(results, with_equal=True))}")
    parts.append(f"{LEGEND}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def annotation_lines(results: Sequence[CellResult], candidate: str, file: str = "") -> list[str]:
    """Return workflow commands of GitHub Actions: worse rows as errors, unresolved rows as warnings."""
    rows = [(result, row) for result in results for row in result.judgements]
    rows.sort(key=lambda pair: -pair[1].size)
    lines = []
    for kind, verdict in (("error", "worse"), ("warning", "not resolved")):
        first_rows = [(result, row) for result, row in rows if row.verdict == verdict][:MOST_ANNOTATIONS]
        for result, row in first_rows:
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
    properties_text = ",".join(
        f"{key}={value.replace('%', '%25').replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
    )
    return f"::{kind} {properties_text}::{data}"


def junit_text(results: Sequence[CellResult], candidate: str, strict: bool) -> str:
    """Return the check as JUnit XML: a test case for each quantity of each cell."""
    cases = []
    failures = skip_count = 0
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
                skip_count += 1
                inner = f"<skipped message={quoteattr(printable(answer_text(row)))}/>"
            attributes = f'classname="dumbbell.check.{result.cell.name}" name={quoteattr(row.metric.name)}'
            cases.append(f"  <testcase {attributes}>{inner}</testcase>")
    head = f'<testsuite name={quoteattr("dumbbell check " + printable(candidate))} tests="{len(cases)}" '
    head += f'failures="{failures}" errors="0" skipped="{skip_count}">'
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
                    "paired": row.is_paired,
                    "rule": row.rule or None,
                    "reason": row.reason or None,
                }
                for row in result.judgements
            ],
            "first_difference": None if result.difference is None else _difference_json(result.difference),
        }
        for result in results
    ]


def _difference_json(difference: FirstDifference) -> dict[str, object]:
    return {
        "run": difference.run,
        "time_s": difference.time_s,
        "baseline": None if difference.baseline is None else vars(difference.baseline),
        "candidate": None if difference.candidate is None else vars(difference.candidate),
        "state": [vars(field_) for field_ in difference.state],
    }
