"""Scorecard as text, as a page in Markdown and as one HTML file."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path

from dumbbell.present.tables import Table
from dumbbell.present.tables.markdown import render
from validation.fidelity.claims import MATTERING, Claim, Limits, Metric
from validation.fidelity.published_check import RowValues, order
from validation.fidelity.repetition import HEAD as REPEATED, Repetition, section as repeated_section
from validation.fidelity.rule import simulated_range
from validation.fidelity.verdict import FAR, NEWER_RULE, PASSING, JudgedResult, JudgedRow, Judgement

Measuring = Callable[[], list[RowValues]]
WORDS: dict[bool | None, str] = {True: "pass", False: "miss", None: "shown"}
_ROW = (
    "quantity",
    "published",
    "simulated: median (95 % range)",
    "real packets",
    "tolerance",
    "single runs within",
    "verdict",
)
HEAD = (*_ROW, "earlier rule", "remark")
FIRST = ("result", *_ROW, "reason")
MATTERS = ("scheme", "quantity", "published", "simulated: median (95 % range)", "verdict", "result")
RESULTS = (
    "result",
    "title",
    "verdict",
    "earlier rule",
    "rows that pass",
    "uninformative rows",
    "repetitions",
)
UNKNOWN = "unknown"
STYLE = Path(__file__).with_name("page.css")


def sentence(results: list[JudgedResult]) -> str:
    """Return the numbers of results and rows by verdict."""
    numbered_results = [result for result in results if result.claim.id.startswith("R")]
    judged_results = [result for result in numbered_results if result.passed is not None]
    rows = [row for result in results for row in result.rows]
    verdicts = [row.passed for row in rows if row.passed is not None]
    shown_rows = [row for row in rows if not row.judgements and row.values]
    far = sum(bool(row.contradictions()) for row in shown_rows)
    return " ".join(
        [
            f"{sum(result.passed is True for result in judged_results)} of {len(judged_results)} judged results pass,",
            f"of {len(numbered_results)} results in all.",
            f"{sum(verdicts)} of {len(verdicts)} judged rows pass.",
            f"Uninformative rows, which count for nothing: {sum(row.uninformative for row in rows)}.",
            f"Rows that have no tolerance and contradict their publication: {far} of {len(shown_rows)}.",
            *_unjudged_note(rows),
        ]
    )


def _unjudged_note(rows: list[JudgedRow]) -> list[str]:
    """Return the sentences on rows whose results are older than the rule."""
    latest = [row.judgements[-1] for row in rows if row.judgements]
    earlier = [judgement.earlier for judgement in latest if judgement.refusal == NEWER_RULE]
    if not earlier:
        return []
    return [
        f"Rows with results older than the rule, which are not judged: {len(earlier)}.",
        f"By the earlier rule {sum(earlier_verdict is True for earlier_verdict in earlier)} of these pass.",
    ]


CHANGED = """
On 2026-11-30 the rule changed: a row passes by the median of its repetitions, no longer by 95 % of its single
runs. Single runs of many schemes differ so much that a correct simulation of one published run could not pass
the earlier rule.
""".strip()


def quantity(row: JudgedRow) -> str:
    """Return the name of the row, with the mark of a corrected set-up."""
    return f"{row.row.quantity} (set-up corrected)" if row.row.corrections else row.row.quantity


def simulated_text(row: JudgedRow) -> str:
    """Return the median of each metric with the 95 % range, and the figure before a correction of the set-up."""
    texts = []
    for name, metric in row.row.metrics.items():
        values = [value[name] for value in row.values if name in value]
        if not values:
            continue
        numbers = (statistics.median(values), *simulated_range(values))
        middle, low, high = (metric.show.format(number) for number in numbers)
        texts.append(middle if low == high else f"{middle} ({low} to {high})")
    text = ", ".join(texts) or "-"
    return f"{text}; before: {row.row.before}" if row.row.before else text


def real(row: JudgedRow) -> str:
    """Return the values measured with real packets, and the latest tolerance's verdict on them."""
    shown_values = ((metric.show, row.real[name]) for name, metric in row.row.metrics.items() if name in row.real)
    text = ", ".join(show.format(value) for show, value in shown_values)
    last = row.judgements[-1] if text and row.judgements else None
    if last and last.real is not None:
        return f"{text} ({WORDS[last.real]})"
    if last and last.real_refused:
        return f"{text} ({'outside' if last.real_outside else 'within'}, not judged)"
    return text


def limits(row: JudgedRow, judgement: Judgement) -> str:
    """Return a tolerance in words, with the day and the commit that set it."""
    tolerance, commit = judgement.tolerance, judgement.version
    text = _limits(tolerance.limits, row.row.metrics)
    if tolerance.real is not None:
        text = "; real: ".join([*([text] if text else []), _limits(tolerance.real, row.row.metrics)])
    label = f"{tolerance.set}, {commit.commit}" if commit else f"{tolerance.set}, not committed"
    return f"{text} [{label}]"


def _limits(bounds: Limits, metrics: Mapping[str, Metric]) -> str:
    texts = []
    for name, (low, high) in bounds.items():
        least, highest = (metrics[name].show.format(value) for value in (low, high))
        words = (
            f">= {least}"
            if high == float("inf")
            else f"<= {highest}"
            if low == -float("inf")
            else f"{least} to {highest}"
        )
        texts.append(words if len(metrics) == 1 else f"{name} {words}")
    return ", ".join(texts)


def verdict(judgement: Judgement) -> str:
    """Return the verdict of one tolerance on simulated and real packets together."""
    if judgement.refusal:
        return judgement.refusal
    if judgement.uninformative:
        return str(judgement.ruling)
    if judgement.passed is None:
        return "not measured"
    if judgement.ruling is None or (judgement.ruling.passed and judgement.real is False):
        return f"{WORDS[judgement.passed]} with real packets"
    return str(judgement.ruling)


def plain(results: list[JudgedResult]) -> str:
    """Return the scorecard for the terminal."""
    lines = []
    for result in results:
        lines.append(f"{result.claim.id} {result.claim.title}: {word(result)} {result.failed}".rstrip())
        lines += [f"    {' | '.join(cells[:7])}" for row in result.rows for cells in _lines(row)]
    return "\n".join([*lines, sentence(results)])


def _lines(row: JudgedRow) -> Iterable[list[str]]:
    """Yield the lines of a row in `HEAD`'s columns: one for each tolerance, the latest first."""
    claim_row = row.row
    first = [quantity(row), claim_row.published_text, simulated_text(row), real(row) or "-"]
    if not row.judgements:
        yield [
            *first,
            "-",
            "-",
            _unjudged_word(row),
            "-",
            " ".join(filter(None, [claim_row.illustration, claim_row.reason])),
        ]
    for number, judgement in enumerate(reversed(row.judgements)):
        within = str(judgement.simulated_count) if judgement.simulated_count else "-"
        earlier = "-" if judgement.earlier is None else WORDS[judgement.earlier]
        lead = first if number == 0 else ["the same, by its earlier tolerance", "", "", ""]
        remark = claim_row.reason if number == 0 else ""
        yield [*lead, limits(row, judgement), within, verdict(judgement), earlier, remark]


def _unjudged_word(row: JudgedRow) -> str:
    """Return the word for a row without a tolerance."""
    return "illustration" if row.row.illustration else "contradicts" if row.contradictions() else "shown"


def mattering(results: list[JudgedResult], link: Callable[[Claim], str]) -> list[list[str]]:
    """Return the rows that matter by scheme; `link` names a result."""
    rows = [(row.row.scheme, result.claim, row) for result in results for row in result.rows if row.row.matters]
    return [
        [scheme, quantity(row), row.row.published_text, simulated_text(row), _short(row), link(claim)]
        for scheme, claim, row in sorted(rows, key=lambda entry: entry[0])
    ]


def _short(row: JudgedRow) -> str:
    """Return the verdict of a row, and the earlier rule's if no other exists."""
    if not row.judgements:
        return _unjudged_word(row)
    last = row.judgements[-1]
    words = [verdict(last)]
    if last.refusal == NEWER_RULE and last.earlier is not None:
        words.append(f"earlier rule: {WORDS[last.earlier]}")
    if far := row.contradictions():
        words.append(f"contradicts: {', '.join(far)}")
    return "; ".join(words)


def anchor(claim: Claim) -> str:
    """Return the anchor of a result's section in the Markdown page."""
    return re.sub(r"[^\w -]", "", f"{claim.id} {claim.title}".lower()).replace(" ", "-")


def first_page(results: list[JudgedResult]) -> list[list[str]]:
    """Return the rows outside their tolerance, and those that contradict their publication without one."""
    rows = []
    for result in results:
        if result.failed:
            rows.append([result.claim.id, result.claim.title, "", "", "", "", "", "failed", result.failed])
        for row in result.rows:
            far = row.contradictions()
            if not row.missed and not far:
                continue
            last = row.judgements[-1] if row.judgements else None
            words = [_miss_reason(last)] if last and row.missed else []
            words += [f"contradicts: {', '.join(far)}"] if far else []
            rows.append(
                [
                    *(result.claim.id, quantity(row), row.row.published_text, simulated_text(row), real(row) or "-"),
                    limits(row, last) if last else "-",
                    str(last.simulated_count) if last and last.simulated_count else "-",
                    "; ".join(words),
                    row.row.reason or UNKNOWN,
                ]
            )
    return rows


def _miss_reason(judgement: Judgement) -> str:
    """Return the reason why a row is outside its tolerance."""
    if judgement.passed is not False:
        return f"real packets are outside{', not judged' if judgement.real_refused else ''}"
    return verdict(judgement)


METHOD = f"""
Each published figure is a row of a file in `validation/fidelity/claims`. The row has a tolerance and a reason for
the tolerance. A tolerance judges only results that were made after its commit; the page names that commit. A
changed tolerance stays: each tolerance has its own verdict, and the latest decides. Tolerances marked as carried
over were in the code of the checks before 2026-11-28. There, each came in one commit with its results. They are
older than the results on this page, not older than the first results.

A row is judged over at least 20 repetitions, each with fresh seeds. One repetition is the whole check as
published; each section describes its own. Nobody chooses seeds: they are hashes of the release's name, which each
section has. The name contains the judged commit, so that nobody knows it when a tolerance is committed.
`--draw NAME` draws others.

A row passes if the median of each judged number is within its limits. The simulated range is from the 2.5th to
the 97.5th percentile of the repetitions. Some publications have one run. Such a row also passes if the published
number lies within the simulated range of each judged number. The verdict says which of the two it was. Rows whose
repetitions are all equal are judged by the median alone.

A row is uninformative if a judged range is wider than a factor of two, and counts for nothing. Relative changes
and differences are judged as factors: 1 + value. A result passes if all its judged, informative rows pass. A
result without such a row is not judged.

A rule judges only results that were made after its commit. The column "single runs within" has the number of
repetitions inside the tolerance. The 95 % interval for that probability (Clopper and Pearson) stands beside it.
By the earlier rule a row passed if {100 * PASSING:.0f} % of its repetitions were inside; each section keeps that
verdict.

In a row with "set-up corrected", two or more causes in the set-up were changed: kernel, sockets, pacing, qdisc,
offloads or host. Such a row has the simulated figure from before the correction too; its section names the causes.

A row without a tolerance is shown. It contradicts its publication if a median is more than {100 * FAR:.0f} % from the
published number or range. Figures with real packets contradict in the same way. Numbers
of a judged row that its tolerance leaves out are treated alike. A published number
within the simulated range contradicts nothing if the number is of one run. The same holds if the range is wider
than a factor of two. An illustration is a row that cannot fail.

Figures with real packets are single runs, and are kept until `--real` measures them again. A tolerance does not
judge figures that are older than itself. The page says only whether such figures are within it or outside.
""".strip()


def markdown(results: list[JudgedResult], repetition: Repetition | None = None) -> str:
    """Return the page; `repetition` is the comparison with other seeds."""
    results = sorted(results, key=lambda entry: order(entry.claim.id))
    lines = [
        "# Fidelity",
        "",
        "`make fidelity` writes dumbbell's numbers beside published ones. Nothing is tuned to this page.",
        "Behaviour tests with stated tolerances are in `crates/simulator/tests`. [Agreement](agreement.md) sets",
        "simulated beside real packets, and [schemes](../schemes/README.md) say how sure each is.",
        "",
        sentence(results),
        "",
        CHANGED,
        "",
    ]
    matter = mattering(results, lambda claim: f"[{claim.id}](#{anchor(claim)})")
    if matter:
        lines += ["## Reliance by scheme", "", RELIANCE, "", render(Table.of(MATTERS, matter, "l" * len(MATTERS))), ""]
    rows = first_page(results)
    lines += [
        "## Misses and contradictions",
        "",
        render(Table.of(FIRST, rows, "l" * len(FIRST))) if rows else "None.",
        "",
    ]
    lines += ["## How results are judged", "", METHOD, ""]
    lines += ["## Results", "", render(Table.of(RESULTS, map(_result_line, results))), ""]
    lines += repeated_section(repetition)
    for result in results:
        lines += section(result)
    return "\n".join(lines).rstrip("\n") + "\n"


RELIANCE = (
    f"The table has the rows that a researcher relies on first, misses included: {MATTERING} at most."
    " All rows are in the sections below."
)


def _result_line(result: JudgedResult) -> list[str]:
    verdicts = [row.passed for row in result.rows if row.passed is not None]
    numbers = result.results
    return [
        *(result.claim.id, result.claim.title, f"**{word(result)}**" if result.passed is False else word(result)),
        "-" if result.earlier is None else WORDS[result.earlier],
        f"{sum(verdicts)} of {len(verdicts)}" if verdicts else "-",
        str(sum(row.uninformative for row in result.rows) or "-"),
        "-" if numbers is None else f"{len(numbers.simulated)}",
    ]


def word(result: JudgedResult) -> str:
    """Return the verdict on a result."""
    judgeable = any(row.judgements for row in result.rows)
    return "not judged" if result.passed is None and judgeable else WORDS[result.passed]


def section(result: JudgedResult) -> list[str]:
    """Return everything that was compared for one result."""
    claim, numbers = result.claim, result.results
    lines = [
        f"## {claim.id}: {claim.title}",
        "",
        f"{claim.source}. Figure: {claim.figure}.",
        "",
        f"Set-up: {claim.setup}",
        "",
        f"Repetition: {claim.repetition}",
    ]
    if claim.fewer:
        lines[-1] += f" Only {claim.repetitions}: {claim.fewer}"
    lines += ["", *provenance(result), ""]
    if numbers and numbers.failed:
        lines += [f"It failed: {numbers.failed}", ""]
    rows = [cells for row in result.rows for cells in _lines(row)]
    lines += [render(Table.of(HEAD, rows, "l" * len(HEAD))), ""]
    return lines + corrections(result) + reasons(result)


def provenance(result: JudgedResult) -> list[str]:
    """Return the version, the seeds and the commands behind a result."""
    numbers, lines = result.results, []
    if numbers and numbers.simulated:
        lines.append(
            f'Simulated by dumbbell {numbers.dumbbell}, seeds drawn from "{numbers.draw}"{_commands(numbers.commands)}'
        )
    else:
        lines.append("Nothing was simulated.")
    if numbers and numbers.real:
        lines += [
            "",
            f"With real packets: dumbbell {numbers.real.dumbbell}{_commands(numbers.real.commands)}",
        ]
    return lines


def _commands(commands: tuple[str, ...]) -> str:
    return f": {', '.join(f'`{command}`' for command in commands)}." if commands else "."


def corrections(result: JudgedResult) -> list[str]:
    """Return the causes that were changed in set-ups: one line for all rows that share them."""
    rows_by_cause: dict[str, list[str]] = {}
    for row in result.rows:
        if row.row.corrections:
            rows_by_cause.setdefault("; ".join(row.row.corrections), []).append(f"`{row.row.key}`")
    lines = [f"- {', '.join(keys)}: {causes}" for causes, keys in rows_by_cause.items()]
    return ["Set-up corrected, with the causes:", "", *lines, ""] if lines else []


def reasons(result: JudgedResult) -> list[str]:
    """Return the reasons of the tolerances: one line for all rows that share a reason."""
    rows_by_reason: dict[str, list[str]] = {}
    for row in result.rows:
        for judgement in row.judgements:
            tolerance = judgement.tolerance
            age = "carried over" if tolerance.carried_over else "new"
            rows_by_reason.setdefault(f"({tolerance.set}, {age}) {tolerance.reason}", []).append(f"`{row.row.key}`")
    if not rows_by_reason:
        return []
    return [
        "Reasons for the tolerances:",
        "",
        *(f"- {', '.join(keys)} {reason}" for reason, keys in rows_by_reason.items()),
        "",
    ]


def html(results: list[JudgedResult], repetition: Repetition | None = None) -> str:
    """Return the page as one HTML file that loads nothing."""
    results = sorted(results, key=lambda result: order(result.claim.id))
    overview = "".join(map(_html_link, results))
    matter = mattering(results, lambda claim: claim.id)
    top = f"<section><h2>Reliance by scheme</h2><p>{RELIANCE}</p>{_table(MATTERS, matter)}</section>" if matter else ""
    misses = _table(FIRST, first_page(results))
    method = "".join(map(_paragraph, METHOD.split("\n\n")))
    repetition_section = ""
    if repetition is not None:
        table = _table(REPEATED, repetition.changes) if repetition.changes else ""
        repetition_section = (
            f"<section><h2>Repeated with other seeds</h2>{_paragraph(repetition.sentence)}{table}</section>"
        )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>dumbbell: fidelity</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body><main>"
        f"<h1>dumbbell's numbers beside published ones</h1><p>{sentence(results)}</p>"
        f"<p>{escape(CHANGED)}</p>"
        f"{top}<section><h2>Misses and contradictions</h2>{misses}</section>"
        f"<section><h2>How results are judged</h2>{method}</section>"
        f'<section><h2>Results</h2><ul class="overview">{overview}</ul></section>{repetition_section}'
        f"{''.join(map(_html_section, results))}</main></body></html>\n"
    )


def _html_link(result: JudgedResult) -> str:
    claim = result.claim
    return f'<li class="{WORDS[result.passed]}"><a href="#{claim.id}"><b>{claim.id}</b> {escape(claim.title)}</a></li>'


def _paragraph(text: str) -> str:
    return f"<p>{_text(text)}</p>"


def _text(markdown: str) -> str:
    return escape(markdown.replace("`", ""))


def _html_section(result: JudgedResult) -> str:
    claim = result.claim
    lines = [
        claim.source,
        f"Set-up: {claim.setup}",
        f"Repetition: {claim.repetition}",
        *provenance(result),
        result.failed,
    ]
    lines += corrections(result)
    texts = "".join(_paragraph(line) for line in lines if line)
    rows = (cells for row in result.rows for cells in _lines(row))
    return (
        f'<section id="{claim.id}" class="{WORDS[result.passed]}"><h2><span>{claim.id}</span> {escape(claim.title)}'
        f"<em>{word(result)}</em></h2>"
        f"{texts}{_table(HEAD, rows)}</section>"
    )


_COLOURS = {"pass": "pass", "miss": "miss", "failed": "miss", "contradicts": "miss", "real": "miss"}
"""Class of a cell in the column `verdict`, by its first word."""


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(map(_cell, heads, cells))}</tr>" for cells in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(head: str, cell: str) -> str:
    word = re.match(r"\w*", cell)
    kind = _COLOURS.get(word[0], "") if word and head == "verdict" else ""
    opening_tag = f'<td class="{kind}">' if kind else "<td>"
    return f"{opening_tag}{_text(cell)}</td>"
