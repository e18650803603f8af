"""Table as fields of text, independent of its output format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Field:
    """One field: its text, smaller lines below it, and the value for sorting.

    A `best` field is the best of those it is compared with; a `bad` one must not be overlooked. `links` are (text,
    target) and replace the text. The marker of `scheme`, if given, stands before the text. `hover` appears when the
    pointer is on the field.
    """

    text: str
    note: str = ""
    sort: float | None = None
    scheme: str = ""
    best: bool = False
    bad: bool = False
    links: tuple[tuple[str, str], ...] = ()
    hover: str = ""


@dataclass(frozen=True)
class Table:
    """A table. `groups` are (title, number of columns) above the columns.

    `align` has a letter for each column: `l` for a text, `w` for a long text, which may wrap, `r` for a number. Columns
    beyond its letters are numbers. Rows are sorted by the column `largest_first`, if any. `name` is one word for
    labels.

    Raises:
        AssertionError: A row is not as long as `columns`, or `align` is longer.
    """

    caption: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    align: str = "l"
    largest_first: int | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Check the lengths, and complete `align`."""
        count = len(self.columns)
        for row in self.rows:
            assert len(row) == count, f"{len(row)} fields for {count} columns: {[field.text for field in row]}"
        assert len(self.align) <= count, f"{len(self.align)} letters for {count} columns: {self.align}"
        assert set(self.align) <= {"l", "w", "r"}, self.align
        object.__setattr__(self, "align", self.align.ljust(count, "r"))

    @classmethod
    def of(cls, columns: Sequence[object], rows: Iterable[Sequence[object]], align: str | None = None) -> Self:
        """Return a table of plain texts; without `align`, columns whose fields all start like numbers are numeric."""
        fields = tuple(tuple(Field(str(value)) for value in row) for row in rows)
        if align is None:
            align = "".join(
                "r" if fields and all(_numeric(row[index].text) for row in fields) else "l"
                for index in range(len(columns))
            )
        return cls("", (), tuple(map(str, columns)), fields, align)


def _numeric(text: str) -> bool:
    return text in ("", "-") or text[0].isdigit() or (text[0] in "+-" and text[1:2].isdigit())
