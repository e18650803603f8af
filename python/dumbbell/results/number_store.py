"""The numbers of runs that have no directories: tables of batches below `numbers`, a folder for each batch."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell import core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import read_json, to_json
from dumbbell.core.batches import TABLES, NumberBatch, number_names, read_numbers
from dumbbell.results.files import write_atomically
from dumbbell.results.integrity import facts_of, fault_of
from dumbbell.results.statistics import require_statistics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dumbbell.base.entry import Entry
    from dumbbell.contract.run import RunStatistics
    from dumbbell.experiment import Run

NUMBERS = "numbers"
"""The folder of the batches."""
FACTS = "files.json"
"""The file of a batch that has the sizes and digests of its tables."""
_KEPT_OPEN = 2
"""Batches whose tables stay in memory: runs are read in the order in which they were made."""

RunKey = tuple[str, str, int]
"""Path, scheme or mix, and repetition of a run."""


class NumberStore:
    """The batches of a results directory. Of a run that was made several times the last one counts."""

    def __init__(self, root: Entry) -> None:
        self.folder = root / NUMBERS
        self._places: dict[RunKey, tuple[int, int]] = {}
        self._read: set[int] = set()
        self._open: OrderedDict[int, NumberBatch] = OrderedDict()

    def __reduce__(self) -> tuple[type[NumberStore], tuple[Entry]]:
        """Return how another process makes the same: what was read stays here."""
        return NumberStore, (self.folder.parent,)

    def batches(self) -> list[int]:
        """Return the numbers of the batches, in the order in which they were made."""
        return sorted(int(name) for name in self.folder.names() if name.isascii() and name.isdigit())

    def unused(self) -> Entry:
        """Return the place of the next batch."""
        return self.folder / str(max(self.batches(), default=0) + 1)

    def statistics(self, run: Run) -> RunStatistics | None:
        """Return the statistics of a run; None if no batch has it.

        Raises:
            UserError: its batch is damaged; the line says where.
        """
        key = (run.path, run.scheme, run.run)
        if key not in self._places:
            self._read_new()
        place = self._places.get(key)
        if place is None:
            return None
        number, row = place
        where = f"{self.folder / str(number)}: row {row}"
        try:
            return require_statistics(where, self._batch(number).statistics(row))
        except core.Error as error:
            raise UserError(str(error)) from None

    def finished(self) -> Iterator[RunKey]:
        """Yield the runs that are made and did not fail.

        Raises:
            UserError: a table is damaged; the line says where.
        """
        status: dict[RunKey, str] = {}
        for number in self.batches():
            for key, found in self._states(number):
                status[key] = found
        yield from (key for key, found in status.items() if found == "done")

    def record(self, folder: Entry) -> None:
        """Record the sizes and digests of the tables of a batch, which are complete, beside them.

        Raises:
            OSError: a file cannot be read or written.
        """
        write_atomically(folder / FACTS, to_json(facts_of(folder, [f"{name}.parquet" for name in TABLES])))

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the tables of batches, a line for each that is not as it was recorded."""
        for number in self.batches():
            folder = self.folder / str(number)
            try:
                facts = read_json(folder / FACTS, dict[str, object])
            except (OSError, UserError) as error:
                yield one_line(error)
                continue
            for name in (f"{table}.parquet" for table in TABLES):
                if name not in facts:
                    yield f"{folder}: {name} is not among what was recorded"
                elif (fault := fault_of(folder / name, facts[name])) is not None:
                    yield f"{folder}: {fault}"

    def _batch(self, number: int) -> NumberBatch:
        batch = self._open.get(number)
        if batch is None:
            folder = self.folder / str(number)
            runs, flows, links = (folder / f"{name}.parquet" for name in TABLES)
            batch = self._open[number] = NumberBatch(runs, flows, links)
            while len(self._open) > _KEPT_OPEN:
                self._open.popitem(last=False)
        self._open.move_to_end(number)
        return batch

    def _read_new(self) -> None:
        """Take note of the runs of batches that were made since the last look."""
        for number in self.batches():
            if number not in self._read:
                self._read.add(number)
                for row, (key, _) in enumerate(self._states(number)):
                    self._places[key] = (number, row)

    def _states(self, number: int) -> Iterator[tuple[RunKey, str]]:
        """Yield each run of a batch with its status."""
        found = self.table(number, "runs", ("path", "scheme", "status", "run"))
        paths, schemes, statuses = (_texts(found, name) for name in ("path", "scheme", "status"))
        for path, scheme, run, status in zip(paths, schemes, found.column("run").tolist(), statuses, strict=True):
            yield (path, scheme, run), status

    def table(self, number: int, name: str, columns: Sequence[str]) -> NumberTable:
        """Return columns of a table of a batch: `runs`, `flows` or `links`.

        Raises:
            UserError: the table is damaged, or has no such columns; the line says where.
        """
        file = self.folder / str(number) / f"{name}.parquet"
        try:
            return NumberTable(file, read_numbers(file, columns))
        except core.Error as error:
            raise UserError(str(error)) from None

    def metrics(self, number: int, name: str) -> list[str]:
        """Return the names of the columns of numbers of a table of a batch.

        Raises:
            UserError: the table is damaged; the line says where.
        """
        try:
            return number_names(self.folder / str(number) / f"{name}.parquet")
        except core.Error as error:
            raise UserError(str(error)) from None


class NumberTable:
    """Columns of a table of a batch."""

    def __init__(self, file: Entry, table: core.Table) -> None:
        self._file, self._table = file, table
        self._names = set(table.names())

    def __len__(self) -> int:
        return len(self._table)

    def has(self, name: str) -> bool:
        """Return True if there is such a column."""
        return name in self._names

    def column(self, name: str) -> NDArray[Any]:
        """Return a column: numbers, or the places of texts in the `texts` of the column.

        Raises:
            UserError: there is none.
        """
        if name not in self._names:
            raise UserError(f"{self._file}: has no column `{name}`")
        import numpy as np  # whoever makes runs starts without

        return np.asarray(self._table.column(name))

    def texts(self, name: str) -> list[str]:
        """Return the different texts of a column; none of a column of numbers."""
        return (self._table.dictionary(name) or []) if name in self._names else []

    def gaps(self, name: str) -> NDArray[np.bool_] | None:
        """Return the rows without a value; None if each row has one."""
        import numpy as np  # likewise

        found = self._table.gaps(name)
        return None if found is None else np.asarray(found)


def _texts(table: NumberTable, name: str) -> list[str]:
    texts = table.texts(name)
    return [texts[code] for code in table.column(name).tolist()]
