"""Tables as plain text for terminals: aligned columns."""

import shutil
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from dumbbell.base.digits import decimal
from dumbbell.base.errors import printable
from dumbbell.present.tables.table import Table

LIST_COLUMNS = 100
"""Width of lists without a terminal, columns."""

_LEAST_COLUMNS = 60
_NARROW, _HIGH = 30, 5
_LEAST = 12
_INDENT = 4
_GAP = 2


def render(table: Table) -> str:
    """Return the lines of the table, as wide as its texts."""
    texts = _texts(table)
    return "\n".join(map("\n".join, _align_rows(texts, _widths(texts), table.align)))


def fit(table: Table, optional: Sequence[str] = ()) -> str:
    """Return the lines of the table, no wider than the terminal (100 columns without one).

    `optional` columns are left out if they do not fit. If the rest does not fit, long texts are wrapped; a last column
    that would be narrow and high stands below its row.
    """
    width = max(_LEAST_COLUMNS, shutil.get_terminal_size((LIST_COLUMNS, 24)).columns)
    texts, align = _texts(table), table.align
    for index in [index for index, name in enumerate(table.columns) if name in optional]:
        if _width(_widths(texts)) > width:
            texts = [[*row[:index], *row[index + 1 :]] for row in texts]
            align = align[:index] + align[index + 1 :]
    widths, longest = _fit_widths(texts, width), _widths(texts)[-1]
    if widths[-1] == longest or (widths[-1] >= _NARROW and longest <= _HIGH * widths[-1]):
        return "\n".join(map("\n".join, _align_rows(texts, widths, align)))
    heads = [row[:-1] for row in texts]
    lines = []
    for head, row in zip(_align_rows(heads, _fit_widths(heads, width), align[:-1]), texts, strict=True):
        lines += head
        lines += [" " * _INDENT + part for part in textwrap.wrap(row[-1], width - _INDENT, break_on_hyphens=False)]
    return "\n".join(lines)


def _texts(table: Table) -> list[list[str]]:
    """Return the texts of all lines, with the head first."""
    rows = [[" ".join((field.text, *field.note.splitlines())) for field in row] for row in table.rows]
    return [[printable(text) for text in row] for row in (table.columns, *rows)]


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*table, strict=True)]


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _fit_widths(table: Sequence[Sequence[str]], max_width: int) -> list[int]:
    """Return widths that fit: the widest columns with several words become narrower."""
    widths = _widths(table)
    flexible = [index for index, column in enumerate(zip(*table, strict=True)) if any(" " in text for text in column)]
    while _width(widths) > max_width and flexible:
        widest = max(flexible, key=lambda index: widths[index])
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
    return widths


def _align_rows(table: Sequence[Sequence[str]], widths: Sequence[int], align: str) -> list[list[str]]:
    """Return the lines of each row: several if a text is longer than its column."""
    lines_by_row = []
    for row in table:
        parts = [
            [text] if len(text) <= width else textwrap.wrap(text, width, break_on_hyphens=False)
            for text, width in zip(row, widths, strict=True)
        ]
        lines = []
        for fields in zip_longest(*parts, fillvalue=""):
            padded_fields = [
                field.rjust(width) if letter == "r" else field.ljust(width)
                for field, width, letter in zip(fields, widths, align, strict=True)
            ]
            lines.append((" " * _GAP).join(padded_fields).rstrip())
        lines_by_row.append(lines)
    return lines_by_row


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as the text of a field, or `-` for None."""
    return "-" if value is None else decimal(value, digits)
