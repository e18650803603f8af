"""Tables of competition: shares, harm done and harm suffered."""

from collections.abc import Sequence

from dumbbell.present.site.cell_tables import NONE, Sheet
from dumbbell.present.site.judging.competition import Harm, Match, axis_of, surroundings
from dumbbell.present.site.judging.direction import decimals, number
from dumbbell.present.site.judging.findings import Findings
from dumbbell.present.site.shell import Shell
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.summary import Estimate

_PLACES = 2

SHARE_RULE = (
    "The part of the payload delivered (goodput after the warm-up) that the flows of the scheme got beside those of "
    "the competitor; below it what equal shares would be."
)
HARM_RULE = (
    "Harm is what the victim loses of what it has alone on the same path: (solo \u2212 beside) / solo where more is "
    "better, (beside \u2212 solo) / beside where less is (Ware et al. 2019). 0 is none, 1 all; below 0 it gains. No "
    "value: the victim was not run alone in that number, or lost nothing that can be divided."
)


def match_tables(shell: Shell, findings: Findings, matches: Sequence[Match]) -> list[Sheet]:
    """The matrices of an experiment, by surroundings: shares, then for each victim metric harm done."""
    sheets = []
    for place in dict.fromkeys(surroundings(findings, match.cell) for match in matches):
        own = [match for match in matches if surroundings(findings, match.cell) == place]
        sheets += _matrices(shell, findings, own, _place(findings, own[0]))
    return sheets


def _place(findings: Findings, match: Match) -> str:
    axes = [axis for axis in findings.axes if axis != axis_of(findings)]
    return f" ({match.cell.label(axes)})" if axes else ""


def _matrices(shell: Shell, findings: Findings, matches: Sequence[Match], place: str) -> list[Sheet]:
    columns = list(dict.fromkeys((match.competitor, match.numbers) for match in matches))
    by_place = {(match.label, match.competitor, match.numbers): match for match in matches}
    mixed = len({numbers for _, numbers in columns}) > 1
    heads = tuple(f"{shell.site.title(name)}{f', {numbers}' if mixed else ''}" for name, numbers in columns)
    caption = f"#{findings.number} {findings.name}."
    rows = []
    for label in findings.labels:
        found = (by_place.get((label, *column)) for column in columns)
        rows.append((shell.name(label), *(share_field(match) for match in found)))
    sheets = [Sheet(f"Share beside each competitor{place}", _table(caption, heads, rows))]
    metrics = dict.fromkeys(harm.metric for match in matches for harm in match.done)
    for metric in metrics:
        rows = []
        for label in findings.labels:
            found = (by_place.get((label, *column)) for column in columns)
            rows.append((shell.name(label), *(harm_field(match.done if match else (), metric.name) for match in found)))
        heading = f"Harm to the competitor's {metric.words}{place}"
        sheets.append(Sheet(heading, _table(caption, heads, rows)))
    return sheets


def _table(caption: str, heads: tuple[str, ...], rows: list[tuple[Field, ...]]) -> Table:
    return Table(caption, (("", 1), ("beside", len(heads))), ("scheme", *heads), tuple(rows))


def share_field(match: Match | None) -> Field:
    """A share, and what would be fair."""
    if match is None or match.share is None:
        return Field(NONE)
    return Field(with_interval(match.share), f"equal: {number(match.fair, _PLACES)}", match.share.mean)


def harm_field(harms: Sequence[Harm], name: str) -> Field:
    """The harm in one metric, and what it is made of."""
    harm = next((harm for harm in harms if harm.metric.name == name), None)
    if harm is None:
        return Field(NONE)
    solo, beside = harm.solo.mean, harm.beside.mean
    places = decimals((solo, beside))
    note = f"{number(solo, places)} \u2192 {number(beside, places)} {harm.metric.unit}".strip()
    return Field(number(harm.harm, _PLACES), note, harm.harm)


def with_interval(estimate: Estimate) -> str:
    """A mean with its interval behind it."""
    mean = number(estimate.mean, _PLACES)
    return f"{mean} {estimate.bounds_text(lambda value: number(value, _PLACES))}".strip()
