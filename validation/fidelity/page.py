"""The scorecard as text, as a page in Markdown and as one file of HTML."""

from __future__ import annotations

from html import escape
from pathlib import Path

from dumbbell.present.tables import Table
from dumbbell.present.tables.markdown import render
from validation.fidelity.published_check import Outcome, Row, order

VERDICTS: dict[bool | None, str] = {True: "pass", False: "**miss**", None: "shown"}
HEAD = ("what", "published", "ours, simulated", "ours, real packets", "tolerance", "verdict", "remark")
STYLE = Path(__file__).with_name("page.css")


def sentence(outcomes: list[Outcome]) -> str:
    """How many results came out how."""
    numbered = [one for one in outcomes if one.id.startswith("R")]
    passed = sum(one.passed is True for one in numbered)
    rows = [row for one in outcomes for row in one.rows if row.passed is not None]
    good = sum(row.passed is True for row in rows)
    return (
        f"{passed} of {len(numbered)} published results are repeated within their tolerances; "
        f"of all {len(rows)} figures that are judged {good} are."
    )


def took(outcomes: list[Outcome]) -> str:
    """What the checks' times add up to."""
    return f"The checks took {sum(one.seconds for one in outcomes) / 60:.0f} minutes in all, several side by side."


def cells(row: Row) -> list[str]:
    """A row's columns, as in `HEAD`."""
    verdict = VERDICTS[row.passed]
    return [row.what, row.published, row.sim or "-", row.emu or "-", row.tolerance or "-", verdict, row.why]


def plain(outcomes: list[Outcome]) -> str:
    """For the terminal."""
    lines = []
    for one in sorted(outcomes, key=lambda one: order(one.id)):
        lines.append(f"{one.id} {one.title}: {VERDICTS[one.passed]} {one.failed}".rstrip())
        lines += [f"    {' | '.join(cells(row)[:6])}" for row in one.rows]
    return "\n".join([*lines, sentence(outcomes)])


def misses(outcomes: list[Outcome]) -> list[list[str]]:
    """What is outside of its tolerance: name of the check, and the row without its verdict."""
    found = [[one.id, *cells(row)[:5], row.why] for one in outcomes for row in one.rows if row.passed is False]
    return found + [[one.id, one.title, "", "", "", "", one.failed] for one in outcomes if one.failed]


def markdown(outcomes: list[Outcome]) -> str:
    """The page."""
    outcomes = sorted(outcomes, key=lambda one: order(one.id))
    lines = [
        "# Fidelity",
        "",
        "Our numbers beside published ones, written by `make fidelity`. Nothing is tuned to this page. Behaviour tests",
        "with stated tolerances are in `crates/simulator/tests`; [agreement](agreement.md) sets simulated beside real",
        "packets, and [schemes](schemes/README.md) say how sure we are of each.",
        "",
        f"{sentence(outcomes)} {took(outcomes)}",
        "",
        "## Misses",
        "",
    ]
    found = misses(outcomes)
    heads = ("result", "what", "published", "ours, simulated", "ours, real packets", "tolerance", "why")
    lines += [render(Table.of(heads, found)) if found else "None.", "", "## Results", ""]
    rows = [[one.id, one.title, VERDICTS[one.passed], f"{one.seconds:.0f}"] for one in outcomes]
    lines += [render(Table.of(("result", "what", "verdict", "seconds"), rows)), ""]
    for one in outcomes:
        lines += section(one)
    return "\n".join(lines).rstrip("\n") + "\n"


def section(one: Outcome) -> list[str]:
    """Everything that was compared for one result."""
    commands = ", ".join(f"`{command}`" for command in one.commands)
    lines = [f"## {one.id}: {one.title}", "", f"{one.source}. dumbbell {one.dumbbell}: {commands}.", ""]
    if one.failed:
        lines += [f"It failed: {one.failed}", ""]
    return lines + ([render(Table.of(HEAD, map(cells, one.rows))), ""] if one.rows else [])


def html(outcomes: list[Outcome]) -> str:
    """The same as one file that loads nothing."""
    outcomes = sorted(outcomes, key=lambda one: order(one.id))
    overview = "".join(
        f'<li class="{kind(one.passed)}"><a href="#{one.id}"><b>{one.id}</b> {escape(one.title)}</a></li>'
        for one in outcomes
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>dumbbell: fidelity</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body><main>"
        f"<h1>Our numbers beside published ones</h1><p>{sentence(outcomes)} {took(outcomes)}</p>"
        f'<ul class="overview">{overview}</ul>'
        f"{''.join(map(article, sorted(outcomes, key=lambda one: one.passed is not False)))}</main></body></html>\n"
    )


def article(one: Outcome) -> str:
    """One result in HTML."""
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    body = "".join(
        f'<tr class="{kind(row.passed)}">{"".join(f"<td>{escape(field)}</td>" for field in html_cells(row))}</tr>'
        for row in one.rows
    )
    commands = "".join(f"<code>{escape(command)}</code>" for command in one.commands)
    failed = f'<p class="miss">{escape(one.failed)}</p>' if one.failed else ""
    return (
        f'<section id="{one.id}" class="{kind(one.passed)}"><h2><span>{one.id}</span> {escape(one.title)}'
        f"<em>{kind(one.passed)}</em></h2><p>{escape(one.source.replace('`', ''))}</p><p>{commands}</p>{failed}"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></section>'
    )


def html_cells(row: Row) -> list[str]:
    """A row's columns, without Markdown's marks."""
    fields = cells(row)
    fields[5] = kind(row.passed)
    return [field.replace("`", "") for field in fields]


def kind(passed: bool | None) -> str:
    """The verdict as a word, which is a class of the style too."""
    return VERDICTS[passed].strip("*")
