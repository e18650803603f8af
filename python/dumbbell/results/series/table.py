"""Tables of a run, with columns that data frame libraries read in place."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell import core
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.json_text import to_json
from dumbbell.results.files import write_atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE_FORMS = (".csv", ".json")
"""Endings of files of tables."""

_REPR_ROWS = 10
"""Rows of a table's representation."""


class Table:
    """Rows of numbers and texts in named columns.

    It speaks Arrow's PyCapsule protocol: `polars.DataFrame(table)`, `pyarrow.table(table)`,
    `pandas.DataFrame.from_arrow(table)`, and `duckdb.sql("from table")` with a variable of that name, read the columns
    where they are. `table["value"]` is a numpy array of a column, and `dict(table)` has them all.
    """

    def __init__(self, core: core.Table) -> None:
        self._core = core

    @classmethod
    def of(cls, kinds: Mapping[str, str], rows: Sequence[Sequence[object]]) -> "Table":
        """Return a table of the given rows; `kinds` are `text`, `integer` or `number` by column. None is no value."""
        columns = zip(*rows, strict=True) if rows else ([] for _ in kinds)
        return cls(core.Table([(*kind, list(values)) for kind, values in zip(kinds.items(), columns, strict=True)]))

    def keys(self) -> list[str]:
        """Return the names of the columns, in order."""
        return self._core.names()

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, column: str) -> "NDArray[Any]":
        """Return a column as long as the table: numbers as they are in memory (read-only), texts as objects.

        A missing number is NaN, a missing text None.

        Raises:
            dumbbell.Error: The column does not exist.
        """
        import numpy

        self._check(column)
        values: NDArray[Any] = numpy.asarray(self._core.column(column))
        names, gaps = self._core.dictionary(column), self._core.gaps(column)
        if names is not None:
            values = numpy.array([*names, None], dtype=object)[values]
        if gaps is not None:
            values = values.astype(object if names is not None else float)
            values[numpy.array(gaps)] = None if names is not None else numpy.nan
        return values

    def where(self, column: str, value: str | int) -> "Table":
        """Return the rows in which `column`, a column of texts or `flow`, has this value.

        Raises:
            dumbbell.Error: The column does not exist, or has no such text.
        """
        self._check(column)
        names = self._core.dictionary(column)
        if names is None:
            return Table(self._core.rows_with(column, self._number(column, value)))
        if value not in names:
            raise UserError(f"unknown {column} `{value}`{nearest(str(value), names)}: allowed are {listed(names)}")
        return Table(self._core.rows_with(column, names.index(str(value))))

    def _number(self, column: str, value: str | int) -> int:
        if not isinstance(value, int) or not 0 <= value < 2**32 or self[column].dtype != "uint32":
            raise UserError(f"`{column}` = {value!r}: rows can be chosen by a text, or by the number of a flow")
        return value

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield each row as a dictionary: for small tables."""
        for values in zip(*(self._values(column) for column in self), strict=True):
            yield dict(zip(self, values, strict=True))

    def save(self, file: str | Path) -> Path:
        """Write the table; the name must end in `.csv` or `.json` (a list of objects). Missing values are empty.

        Raises:
            dumbbell.Error: The name ends in something else.
            OSError: The file cannot be written.
        """
        file = Path(file)
        check_form(file, "tables", TABLE_FORMS)
        write_atomically(file, to_json(list(self.rows())) if file.suffix == ".json" else self.as_csv())
        return file

    def as_csv(self) -> str:
        """Return the table in the format of RFC 4180, with the line ends of this system.

        Missing values are empty.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.keys())
        writer.writerows(zip(*(self._values(column) for column in self), strict=True))
        return text.getvalue()

    def _values(self, column: str) -> list[Any]:
        """Return a column as Python's own values, with None for missing ones."""
        import numpy

        names, gaps = self._core.dictionary(column), self._core.gaps(column)
        values = numpy.asarray(self._core.column(column)).tolist()
        if names is not None:
            values = [names[code] for code in values]
        return [None if gap else value for value, gap in zip(values, gaps, strict=True)] if gaps else values

    def _check(self, column: str) -> None:
        if column not in self.keys():
            raise UserError(f"no column `{column}`{nearest(column, self.keys())}: there are {listed(self.keys())}")

    def __arrow_c_schema__(self) -> object:
        return self._core.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def _first(self) -> list[list[str]]:
        return [[_text(value) for value in row.values()] for row in islice(self.rows(), _REPR_ROWS)]

    def __repr__(self) -> str:
        return f"<dumbbell.Table of {len(self)} rows: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in self._first())
        more = f"<caption>{_REPR_ROWS} of {len(self)} rows</caption>" if len(self) > _REPR_ROWS else ""
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def check_form(file: Path, noun: str, forms: Sequence[str]) -> None:
    """Refuse a name with an ending that is not allowed; `what` names the things to save."""
    if file.suffix not in forms:
        raise UserError(f"{file}: {noun} are written as {listed(forms)}: allowed is a name that ends in one of these")


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
