"""Plain text for terminals: aligned columns."""

import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from dumbbell.base.digits import decimal
from dumbbell.base.errors import printable

LIST_COLUMNS = 100
"""What lists fit into where no terminal says how wide it is."""

_LEAST_COLUMNS = 60
_NARROW, _HIGH = 30, 5
_LEAST = 12
_INDENT = 4
_GAP = 2


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns whose fields all start like numbers are aligned right."""
    table = [[printable(field) for field in row] for row in (header, *rows)]
    return "\n".join(map("\n".join, _aligned(table, _widths(table))))


def listing(header: Sequence[str], rows: Sequence[Sequence[str]], optional: Sequence[str] = ()) -> str:
    """A table no wider than the terminal (100 columns where there is none).

    `optional` columns are left out where they do not fit. Where the rest does not, long texts are wrapped; if the last
    column would be narrow and high, it stands below its row.
    """
    width = max(_LEAST_COLUMNS, shutil.get_terminal_size((LIST_COLUMNS, 24)).columns)
    table = [[printable(field) for field in row] for row in (header, *rows)]
    for index in [index for index, name in enumerate(header) if name in optional]:
        if _width(_widths(table)) > width:
            table = [[*row[:index], *row[index + 1 :]] for row in table]
    widths, longest = _fitted(table, width), _widths(table)[-1]
    if widths[-1] == longest or (widths[-1] >= _NARROW and longest <= _HIGH * widths[-1]):
        return "\n".join(map("\n".join, _aligned(table, widths)))
    heads = [row[:-1] for row in table]
    lines = []
    for head, row in zip(_aligned(heads, _fitted(heads, width)), table, strict=True):
        lines += head
        lines += [" " * _INDENT + part for part in textwrap.wrap(row[-1], width - _INDENT, break_on_hyphens=False)]
    return "\n".join(lines)


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _fitted(table: Sequence[Sequence[str]], most: int) -> list[int]:
    """Widths that fit: the widest columns that have several words become narrower."""
    widths = _widths(table)
    flexible = [index for index, column in enumerate(zip(*table, strict=True)) if any(" " in text for text in column)]
    while _width(widths) > most and flexible:
        widest = max(flexible, key=lambda index: widths[index])
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
    return widths


def _aligned(table: Sequence[Sequence[str]], widths: Sequence[int]) -> list[list[str]]:
    """The lines of each row: several where a text is longer than its column."""
    right = [bool(table[1:]) and all(_numeric(row[index]) for row in table[1:]) for index in range(len(widths))]
    found = []
    for row in table:
        parts = [
            [text] if len(text) <= width else textwrap.wrap(text, width, break_on_hyphens=False)
            for text, width in zip(row, widths, strict=True)
        ]
        lines = []
        for fields in zip_longest(*parts, fillvalue=""):
            placed = [
                field.rjust(width) if is_right else field.ljust(width)
                for field, width, is_right in zip(fields, widths, right, strict=True)
            ]
            lines.append((" " * _GAP).join(placed).rstrip())
        found.append(lines)
    return found


def _numeric(field: str) -> bool:
    return field == "" or field == "-" or field[0].isdigit() or (field[0] in "+-" and field[1:2].isdigit())


def number(value: float | None, digits: int = 2) -> str:
    """A number, `-` for none."""
    return "-" if value is None else decimal(value, digits)
