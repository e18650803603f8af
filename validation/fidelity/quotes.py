"""Numbers of published results that pages quote; those of the scorecard are written into them.

A quoted number has a comment behind it that names result, row and metric: `35.7 %<!-- R14 start/16 share -->`. It is
the median over the repetitions, in the format of the claim.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dumbbell.base.errors import UserError
from validation.fidelity.verdict import JudgedResult

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
_QUOTE = re.compile(r"(?P<number>[-+]?[\d.]+)(?P<unit> %)?<!-- (?P<id>[A-Z]\d+) (?P<row>\S+) (?P<metric>\w+) -->")


def quoting_pages() -> Iterator[Path]:
    """Yield the pages that quote numbers."""
    return (file for file in sorted(DOCS.rglob("*.md")) if _QUOTE.search(file.read_text(encoding="utf-8")))


def quote(text: str, results: Iterable[JudgedResult], page: str) -> str:
    """Return the text of a page with the numbers of the results.

    Raises:
        UserError: The text quotes what no result has.
    """
    text_of = {
        (result.claim.id, row.row.key, metric): row.row.metrics[metric].show.format(value)
        for result in results
        for row in result.rows
        for metric, value in row.medians().items()
    }

    def number(match: re.Match[str]) -> str:
        name = (match["id"], match["row"], match["metric"])
        if name not in text_of:
            raise UserError(f"{page}: `<!-- {' '.join(name)} -->`: the scorecard has no such number")
        value = text_of[name].replace("%", " %")
        unit = "" if "%" in value else match["unit"] or ""
        return f"{value}{unit}<!-- {' '.join(name)} -->"

    return _QUOTE.sub(number, text)


def write_quotes(results: list[JudgedResult]) -> None:
    """Bring the numbers that pages quote up to date."""
    for file in quoting_pages():
        text = file.read_text(encoding="utf-8")
        if (now := quote(text, results, file.name)) != text:
            file.write_text(now, encoding="utf-8")
