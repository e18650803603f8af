"""Tables in Markdown."""

import re
from collections.abc import Iterable

from dumbbell.present.tables.table import Field, Table

_RULES = {"l": "---", "w": "---", "r": "---:"}
_BAR = re.compile(r"(?<!\\)\|")  # a bar that is not escaped yet


def render(table: Table) -> str:
    """Return the lines of the table; its caption and groups are left to the page."""
    rules = f"|{'|'.join(_RULES[letter] for letter in table.align)}|"
    return "\n".join([line(table.columns), rules, *map(_row, table.rows)])


def line(texts: Iterable[object]) -> str:
    """Return one line of a table."""
    cells = (_BAR.sub(r"\\|", str(text)) for text in texts)
    return f"| {' | '.join(cells)} |"


def _row(row: tuple[Field, ...]) -> str:
    return line("<br>".join([field.text, *field.note.splitlines()]) for field in row)
