"""The scorecard as text, as a page in Markdown and as one file of HTML."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path

from dumbbell.present.tables import Table
from dumbbell.present.tables.markdown import render
from validation.fidelity.claims import Limits, Metric
from validation.fidelity.published_check import Measured, order
from validation.fidelity.repetition import HEAD as REPEATED, Repetition, section as repeated_section
from validation.fidelity.verdict import FAR, PASSING, JudgedResult, JudgedRow, Judgement

Measuring = Callable[[], list[Measured]]
WORDS: dict[bool | None, str] = {True: "pass", False: "miss", None: "shown"}
HEAD = (
    "what",
    "published",
    "simulated: median (least to most)",
    "real packets",
    "tolerance",
    "within",
    "verdict",
    "remark",
)
FIRST = ("result", "what", "published", "simulated", "real packets", "tolerance", "within", "what it is", "why")
UNKNOWN = "unknown"
STYLE = Path(__file__).with_name("page.css")


def sentence(results: list[JudgedResult]) -> str:
    """How many results came out how."""
    numbered = [one for one in results if one.claim.id.startswith("R")]
    judged = [one for one in numbered if one.passed is not None]
    passed = sum(one.passed is True for one in judged)
    rows = [row for one in results for row in one.rows if row.passed is not None]
    good = sum(row.passed is True for row in rows)
    shown = [row for one in results for row in one.rows if not row.judgements and row.values]
    far = sum(bool(row.contradictions()) for row in shown)
    return (
        f"{passed} of {len(judged)} published results that are judged are repeated within their tolerances (of"
        f" {len(numbered)} in all); of all {len(rows)} rows that are judged {good} are. Of {len(shown)} rows that are"
        f" shown and not judged {far} contradict their publication."
    )


def took(results: list[JudgedResult]) -> str:
    """What the checks' times add up to."""
    seconds = sum(one.results.seconds for one in results if one.results)
    return f"The simulated repetitions took {seconds / 60:.0f} minutes, added up over the checks."


def simulated(row: JudgedRow) -> str:
    """The median of each metric over the repetitions, with the least and the most where they differ."""
    texts = []
    for name, metric in row.row.metrics.items():
        values = [each[name] for each in row.values if name in each]
        if not values:
            continue
        middle, least, most = (
            metric.show.format(each) for each in (statistics.median(values), min(values), max(values))
        )
        texts.append(middle if least == most else f"{middle} ({least} to {most})")
    return ", ".join(texts)


def real(row: JudgedRow) -> str:
    """What was measured with real packets, and what the latest tolerance says of it."""
    found = ((metric.show, row.real[name]) for name, metric in row.row.metrics.items() if name in row.real)
    text = ", ".join(show.format(value) for show, value in found)
    last = row.judgements[-1] if text and row.judgements else None
    if last and last.real is not None:
        return f"{text} ({WORDS[last.real]})"
    if last and last.real_refused:
        return f"{text} ({'outside' if last.real_outside else 'within'}, not judged)"
    return text


def limits(row: JudgedRow, judgement: Judgement) -> str:
    """A tolerance in words, with the day and the commit that set it."""
    tolerance, commit = judgement.tolerance, judgement.registered
    text = _limits(tolerance.limits, row.row.metrics)
    if tolerance.real is not None:
        text = "; real: ".join([*([text] if text else []), _limits(tolerance.real, row.row.metrics)])
    where = f"{tolerance.set}, {commit.commit}" if commit else f"{tolerance.set}, not committed"
    return f"{text} [{where}]"


def _limits(given: Limits, metrics: Mapping[str, Metric]) -> str:
    texts = []
    for name, (low, high) in given.items():
        least, most = (metrics[name].show.format(value) for value in (low, high))
        words = (
            f">= {least}" if high == float("inf") else f"<= {most}" if low == -float("inf") else f"{least} to {most}"
        )
        texts.append(words if len(metrics) == 1 else f"{name} {words}")
    return ", ".join(texts)


def verdict(judgement: Judgement) -> str:
    """What one tolerance says, of simulated and real packets together."""
    if judgement.refused:
        return judgement.refused
    return WORDS[judgement.passed] if judgement.passed is not None else "not measured"


def plain(results: list[JudgedResult]) -> str:
    """For the terminal."""
    lines = []
    for one in results:
        lines.append(f"{one.claim.id} {one.claim.title}: {word(one)} {one.failed}".rstrip())
        lines += [f"    {' | '.join(cells[:7])}" for row in one.rows for cells in _lines(row)]
    return "\n".join([*lines, sentence(results)])


def _lines(row: JudgedRow) -> Iterable[list[str]]:
    """The lines of a row in `HEAD`'s columns: one for each tolerance, the latest first."""
    known = row.row
    first = [known.what, known.published, simulated(row) or "-", real(row) or "-"]
    if not row.judgements:
        kind = "illustration" if known.illustration else "contradicts" if row.contradictions() else "shown"
        yield [*first, "-", "-", kind, " ".join(filter(None, [known.illustration, known.why]))]
    for number, judgement in enumerate(reversed(row.judgements)):
        within = str(judgement.simulated) if judgement.simulated else "-"
        lead = first if number == 0 else ["the same, by its earlier tolerance", "", "", ""]
        yield [*lead, limits(row, judgement), within, verdict(judgement), known.why if number == 0 else ""]


def first_page(results: list[JudgedResult]) -> list[list[str]]:
    """What is outside of its tolerance, and what contradicts its publication without one."""
    found = []
    for one in results:
        if one.failed:
            found.append([one.claim.id, one.claim.title, "", "", "", "", "", "failed", one.failed])
        for row in one.rows:
            far = row.contradictions()
            if not row.missed and not far:
                continue
            last = row.judgements[-1] if row.judgements else None
            words = [_missed(last)] if last and row.missed else []
            words += [f"contradicts: {', '.join(far)}"] if far else []
            found.append(
                [
                    *(one.claim.id, row.row.what, row.row.published, simulated(row) or "-", real(row) or "-"),
                    limits(row, last) if last else "-",
                    str(last.simulated) if last and last.simulated else "-",
                    "; ".join(words),
                    row.row.why or UNKNOWN,
                ]
            )
    return found


def _missed(judgement: Judgement) -> str:
    """Say in which way a row is outside of its tolerance."""
    if judgement.passed is not False:
        return "real packets are outside, not judged"
    if judgement.simulated and not judgement.simulated.passed:
        return "miss"
    return "miss with real packets"


METHOD = f"""
Every figure of a publication is a row of a file in `validation/fidelity/claims`, with its tolerance and the
reason for it. A tolerance judges only results that were made after it was committed; the page names that
commit. A tolerance that changes stays: each has its own verdict, and the latest decides. Tolerances of
2026-11-28 that are marked as carried over were in the code of the checks before, where they came in one commit
with their results: they are registered before the results on this page, not before the earlier ones.

A row is judged over at least 20 repetitions, each with fresh seeds. One repetition is the whole check as
published; each section says what that is. Nobody chooses seeds: they are hashes of the release's name, which
each section has. The name has the commit that is judged, and so cannot be known when a tolerance is committed.
`--draw NAME` draws others. "Within" is how many repetitions are within the tolerance, with the 95 % interval of
Clopper and Pearson for that probability; where nothing in the set-up is random, all are equal and there is no
interval. A row passes if {100 * PASSING:.0f} % of its repetitions are within; a result passes if all its judged rows
do.

A row without a tolerance is shown. It contradicts its publication if the median over the repetitions, or the
figure measured with real packets, is more than {100 * FAR:.0f} % from the published number or range; a rule says so,
nobody lists it. The same holds for a number of a judged row that its tolerance leaves out. An illustration is a
row that cannot fail.

Figures with real packets are single runs, and are kept until `--real` measures them again. A tolerance does not
judge those that are older than itself; the page says only whether they are within it or outside.
""".strip()


def markdown(results: list[JudgedResult], repetition: Repetition | None = None) -> str:
    """The page; `repetition` is what came of other seeds."""
    results = sorted(results, key=lambda one: order(one.claim.id))
    lines = [
        "# Fidelity",
        "",
        "dumbbell's numbers beside published ones, written by `make fidelity`. Nothing is tuned to this page.",
        "Behaviour tests with stated tolerances are in `crates/simulator/tests`. [Agreement](agreement.md) sets",
        "simulated beside real packets, and [schemes](schemes/README.md) say how sure each is.",
        "",
        f"{sentence(results)} {took(results)}",
        "",
        "## Misses and contradictions",
        "",
    ]
    found = first_page(results)
    lines += [render(Table.of(FIRST, found)) if found else "None.", "", "## How results are judged", "", METHOD, ""]
    rows = []
    for one in results:
        judged = [row.passed for row in one.rows if row.passed is not None]
        known = one.results
        measured = "-" if known is None else f"{len(known.simulated)}"
        rows.append(
            [
                *(
                    one.claim.id,
                    one.claim.title,
                    f"**{word(one)}**" if one.passed is False else word(one),
                    f"{sum(judged)} of {len(judged)}" if judged else "-",
                ),
                *(measured, f"{known.seconds:.0f}" if known else "-"),
            ]
        )
    heads = ("result", "what", "verdict", "rows that pass", "repetitions", "seconds")
    lines += ["## Results", "", render(Table.of(heads, rows)), "", *repeated_section(repetition)]
    for one in results:
        lines += section(one)
    return "\n".join(lines).rstrip("\n") + "\n"


def word(one: JudgedResult) -> str:
    """The verdict on a result."""
    judgeable = any(row.judgements for row in one.rows)
    return "not judged" if one.passed is None and judgeable else WORDS[one.passed]


def section(one: JudgedResult) -> list[str]:
    """Everything that was compared for one result."""
    claim, known = one.claim, one.results
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
    lines += ["", *provenance(one), ""]
    if known and known.failed:
        lines += [f"It failed: {known.failed}", ""]
    lines += [render(Table.of(HEAD, [cells for row in one.rows for cells in _lines(row)])), ""]
    return lines + reasons(one)


def provenance(one: JudgedResult) -> list[str]:
    """By which dumbbell, with which seeds and by which commands."""
    known, lines = one.results, []
    if known and known.simulated:
        lines.append(
            f'Simulated by dumbbell {known.dumbbell}, seeds drawn from "{known.draw}"{_commands(known.commands)}'
        )
    else:
        lines.append("Nothing was simulated.")
    if known and known.real:
        lines += ["", f"With real packets: dumbbell {known.real.dumbbell}{_commands(known.real.commands)}"]
    return lines


def _commands(commands: tuple[str, ...]) -> str:
    return f": {', '.join(f'`{command}`' for command in commands)}." if commands else "."


def reasons(one: JudgedResult) -> list[str]:
    """Why each tolerance is what it is: one line for all rows that share a reason."""
    found: dict[str, list[str]] = {}
    for row in one.rows:
        for judgement in row.judgements:
            tolerance = judgement.tolerance
            carried = "carried over" if tolerance.carried_over else "new"
            found.setdefault(f"({tolerance.set}, {carried}) {tolerance.reason}", []).append(f"`{row.row.key}`")
    if not found:
        return []
    return ["Reasons for the tolerances:", "", *(f"- {', '.join(keys)} {why}" for why, keys in found.items()), ""]


def html(results: list[JudgedResult], repetition: Repetition | None = None) -> str:
    """The same as one file that loads nothing."""
    results = sorted(results, key=lambda one: order(one.claim.id))
    overview = "".join(map(_html_link, results))
    misses = _table(FIRST, ((cells, "") for cells in first_page(results)))
    method = "".join(f"<p>{escape(each)}</p>" for each in METHOD.split("\n\n"))
    repeated = ""
    if repetition is not None:
        table = _table(REPEATED, ((list(cells), "") for cells in repetition.changed))
        repeated = f"<section><h2>Repeated with other seeds</h2><p>{escape(repetition.sentence)}</p>{table}</section>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>dumbbell: fidelity</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body><main>"
        f"<h1>dumbbell's numbers beside published ones</h1><p>{sentence(results)} {took(results)}</p>"
        f'<ul class="overview">{overview}</ul><section><h2>Misses and contradictions</h2>{misses}</section>'
        f"<section><h2>How results are judged</h2>{method}</section>{repeated}"
        f"{''.join(map(_html_section, results))}</main></body></html>\n"
    )


def _html_link(one: JudgedResult) -> str:
    claim = one.claim
    return f'<li class="{WORDS[one.passed]}"><a href="#{claim.id}"><b>{claim.id}</b> {escape(claim.title)}</a></li>'


def _html_section(one: JudgedResult) -> str:
    claim = one.claim
    lines = [claim.source, f"Set-up: {claim.setup}", f"Repetition: {claim.repetition}", *provenance(one), one.failed]
    texts = "".join(f"<p>{escape(line.replace('`', ''))}</p>" for line in lines if line)
    rows = ((cells, WORDS[row.passed]) for row in one.rows for cells in _lines(row))
    return (
        f'<section id="{claim.id}" class="{WORDS[one.passed]}"><h2><span>{claim.id}</span> {escape(claim.title)}'
        f"<em>{word(one)}</em></h2>"
        f"{texts}{_table(HEAD, rows)}</section>"
    )


def _table(heads: Iterable[str], rows: Iterable[tuple[list[str], str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f'<tr class="{kind}">{"".join(f"<td>{escape(cell.replace(chr(96), str()))}</td>" for cell in cells)}</tr>'
        for cells, kind in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
