"""Tables as rows of texts that pages and print lay out alike."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One field: its text, smaller lines below it, and what sorting goes by.

    A `best` one is the best of those it is compared with; a `bad` one must not be overlooked; `link` is where its text
    leads to; where `scheme` is given, its marker stands in front of the text. `hover` is told when it is pointed at.
    """

    text: str
    note: str = ""
    sort: float | None = None
    scheme: str = ""
    best: bool = False
    bad: bool = False
    link: str = ""
    hover: str = ""


@dataclass(frozen=True)
class Table:
    """A table. `groups` are (title, number of columns) above the columns; the first `names` columns are texts."""

    caption: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    names: int = 1
