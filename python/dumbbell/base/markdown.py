"""Tables in Markdown."""

import re
from collections.abc import Iterable, Sequence

_RULES = {"l": "---", "r": "---:"}
_BAR = re.compile(r"(?<!\\)\|")  # one that is not escaped yet


def table(head: Sequence[object], rows: Iterable[Sequence[object]], align: str = "", *, spaced: bool = False) -> str:
    """Return a table; `align` has `l` or `r` for each column, and is `l` for all if it is empty.

    With `spaced` the line below the head has spaces beside its bars, as some pages have it.

    Raises:
        AssertionError: a row or `align` is not as long as the head.
    """
    lines: list[Sequence[object]] = [head, [_RULES[letter] for letter in align or "l" * len(head)], *rows]
    for fields in lines:
        assert len(fields) == len(head), f"{len(fields)} fields for {len(head)} columns: {fields}"
    first, rules, *rest = map(row, lines)
    return "\n".join([first, rules if spaced else rules.replace(" ", ""), *rest])


def row(fields: Iterable[object]) -> str:
    """Return a line of a table."""
    escaped = (_BAR.sub(r"\\|", str(field)) for field in fields)
    return f"| {' | '.join(escaped)} |"
