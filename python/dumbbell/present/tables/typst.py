"""Tables as data for the function `lay` of a typst file."""

from collections.abc import Iterator, Mapping
from math import sqrt
from statistics import fmean

from dumbbell.present.tables.table import Field, Table

_AVERAGE, _LEAST = 10, 5
"""Letters of a column of average width, and of the narrowest."""


def render(table: Table, swatches: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return the table as JSON values; `swatches` are the files of the schemes' markers.

    Columns of long texts share the rest of the line (`shares`, 0 for other columns) by the square root of their average
    length, which keeps shorter ones readable.
    """
    lengths = [sqrt(fmean([len(name), *map(len, texts)])) for name, texts in _columns(table)]
    return {
        "caption": table.caption,
        "groups": table.groups,
        "columns": table.columns,
        "align": list(table.align),
        "shares": [length if letter == "w" else 0 for length, letter in zip(lengths, table.align, strict=True)],
        "rows": [[_field(field, swatches or {}) for field in row] for row in table.rows],
    }


def width(table: Table) -> float:
    """Return the width of the rows without wrapping, in columns of average width."""
    return sum(max(_LEAST, *map(len, texts)) for _, texts in _columns(table) if texts) / _AVERAGE


def _columns(table: Table) -> Iterator[tuple[str, list[str]]]:
    """Yield the head and the lines of text of each column."""
    for index, name in enumerate(table.columns):
        yield name, [text for row in table.rows for text in (row[index].text, *row[index].note.splitlines())]


def _field(field: Field, swatches: Mapping[str, str]) -> dict[str, object]:
    return {
        "text": field.text,
        "note": field.note,
        "swatch": swatches.get(field.scheme, ""),
        "best": field.best,
    }
