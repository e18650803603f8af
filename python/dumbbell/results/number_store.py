"""The numbers of runs that have no directories: tables of batches below `numbers`, a folder for each batch."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell import core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import read_json, to_json
from dumbbell.core.batches import TABLES, NumberBatch, number_names, read_numbers
from dumbbell.results.files import write_atomically
from dumbbell.results.integrity import facts_of, fault_of, size_fault_of
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

_NUMBER = re.compile("[1-9][0-9]{0,8}")

RunKey = tuple[str, str, int]
"""Path, scheme or mix, and repetition of a run."""


class NumberStore:
    """The batches of a results directory. Of a run that was made several times the last one counts.

    A batch of which a table is missing, or has another size than was recorded, is damaged: none of its runs is read.
    """

    def __init__(self, root: Entry) -> None:
        self.folder = root / NUMBERS
        self._places: dict[RunKey, tuple[int, int]] = {}
        self._read: set[int] = set()
        self._faults: dict[int, str | None] = {}
        self._open: OrderedDict[int, NumberBatch] = OrderedDict()

    def __reduce__(self) -> tuple[type[NumberStore], tuple[Entry]]:
        """Return how another process makes the same: what was read stays here."""
        return NumberStore, (self.folder.parent,)

    def batches(self) -> list[int]:
        """Return the numbers of the batches, in the order in which they were made."""
        return sorted(int(name) for name in self.folder.names() if _NUMBER.fullmatch(name))

    def whole(self) -> list[int]:
        """Return the numbers of the batches that are not damaged."""
        return [number for number in self.batches() if self._fault(number) is None]

    def damaged(self) -> list[str]:
        """Return a line for each batch that is damaged, or one for what is in the place of their folder."""
        if self.folder.status() is not None and not self.folder.is_folder():
            return [f"{self.folder}: is no folder"]
        return [fault for number in self.batches() if (fault := self._fault(number)) is not None]

    def unused(self) -> Entry:
        """Return the place of the next batch."""
        return self.folder / str(max(self.batches(), default=0) + 1)

    def statistics(self, run: Run) -> RunStatistics | None:
        """Return the statistics of a run; None if no batch has it.

        Raises:
            UserError: its batch is damaged, or any batch is and no other one has the run; the line says where.
        """
        key = (run.path, run.scheme, run.run)
        if key not in self._places:
            self._read_new()
        place = self._places.get(key)
        if place is None:
            for fault in self.damaged():
                raise UserError(f"in no table that can be read: {fault}")
            return None
        number, row = place
        try:
            return require_statistics(f"{self.folder / str(number)}: row {row}", self._batch(number).statistics(row))
        except (core.Error, OSError) as error:
            raise UserError(one_line(error)) from None

    def note(self, places: Mapping[RunKey, tuple[int, int]]) -> None:
        """Take note of where some runs are, by batch and row: no table has to be searched for them."""
        self._places |= places

    def finished(self) -> Iterator[RunKey]:
        """Yield the runs that are made and did not fail, of the batches that are not damaged.

        Raises:
            UserError: a table is damaged; the line says where.
        """
        status: dict[RunKey, str] = {}
        for number in self.whole():
            for key, found in self._states(number):
                status[key] = found
        yield from (key for key, found in status.items() if found == "done")

    def record(self, folder: Entry) -> None:
        """Record the sizes and digests of the tables of a batch, which are complete, beside them.

        Raises:
            OSError: a file cannot be read or written.
        """
        write_atomically(folder / FACTS, to_json(facts_of(folder, [f"{name}.parquet" for name in TABLES])))

    def faults(self) -> dict[int, str]:
        """Return what is wrong with the tables of batches, as their digests tell: the first fault of each batch."""
        found = {number: _fault_of(self.folder / str(number), fault_of) for number in self.batches()}
        return {number: fault for number, fault in found.items() if fault is not None}

    def remove(self, number: int) -> None:
        """Remove a batch, whose runs are then missing.

        Raises:
            OSError: that is not possible.
        """
        (self.folder / str(number)).clear()
        self._faults.pop(number, None)
        self._open.pop(number, None)
        self._read.discard(number)  # another batch may get this number
        self._places = {run: place for run, place in self._places.items() if place[0] != number}

    def _fault(self, number: int) -> str | None:
        """Return what is wrong with a batch, as sizes tell: to read whole files takes too long."""
        if number not in self._faults:
            self._faults[number] = _fault_of(self.folder / str(number), size_fault_of)
        return self._faults[number]

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
        for number in self.whole():
            if number not in self._read:
                for row, (key, _) in enumerate(self._states(number)):
                    self._places[key] = (number, row)
                self._read.add(number)

    def _states(self, number: int) -> Iterator[tuple[RunKey, str]]:
        """Yield each run of a batch with its status."""
        found = self.table(number, "runs", ("path", "scheme", "status", "run"))
        paths, schemes, statuses = (_texts(found, name) for name in ("path", "scheme", "status"))
        for path, scheme, run, status in zip(paths, schemes, found.integers("run").tolist(), statuses, strict=True):
            yield (path, scheme, run), status

    def table(self, number: int, name: str, columns: Sequence[str]) -> NumberTable:
        """Return columns of a table of a batch: `runs`, `flows` or `links`.

        Raises:
            UserError: the table is damaged, or has no such columns; the line says where.
        """
        file = self.folder / str(number) / f"{name}.parquet"
        try:
            return NumberTable(file, read_numbers(file, columns))
        except (core.Error, OSError) as error:
            raise UserError(one_line(error)) from None

    def metrics(self, number: int, name: str) -> list[str]:
        """Return the names of the columns of numbers of a table of a batch.

        Raises:
            UserError: the table is damaged; the line says where.
        """
        try:
            return number_names(self.folder / str(number) / f"{name}.parquet")
        except (core.Error, OSError) as error:
            raise UserError(one_line(error)) from None


class NumberTable:
    """Columns of a table of a batch."""

    def __init__(self, file: Entry, table: core.Table) -> None:
        self._file, self._table = file, table
        self._names = set(table.names())

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

    def integers(self, name: str) -> NDArray[Any]:
        """Return a column in which each row has a whole number.

        Raises:
            UserError: it is another one.
        """
        found = self.column(name)
        if self.texts(name) or found.dtype.kind != "i" or self._table.gaps(name) is not None:
            raise UserError(f"{self._file}: column `{name}`: allowed is a whole number in each row")
        return found

    def codes(self, name: str) -> NDArray[Any]:
        """Return a column in which each row has a text: the places of the texts in `texts`.

        Raises:
            UserError: it is another one.
        """
        found = self.column(name)
        if self._table.gaps(name) is not None or (len(found) and not self.texts(name)):
            raise UserError(f"{self._file}: column `{name}`: allowed is a text in each row")
        return found

    def texts(self, name: str) -> list[str]:
        """Return the different texts of a column; none of a column of numbers."""
        return (self._table.dictionary(name) or []) if name in self._names else []

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, NaN where a row has none; all NaN if the column has texts."""
        import numpy as np  # likewise

        found = self.column(name)
        if self.texts(name):
            return np.full(len(found), np.nan)
        if found.dtype.kind == "f":  # it has NaN there
            return found
        return self._with_gaps(name, found.astype(np.float64), np.nan)

    def words(self, name: str) -> NDArray[np.object_]:
        """Return a column of texts, None where a row has none; all None if the column has none."""
        import numpy as np  # likewise

        found, texts = self.column(name), self.texts(name)
        if not texts:
            return np.full(len(found), None, dtype=object)
        return self._with_gaps(name, np.array(texts, dtype=object)[found], None)

    def _with_gaps(self, name: str, values: NDArray[Any], nothing: object) -> NDArray[Any]:
        if (gaps := self._table.gaps(name)) is not None:
            values[gaps] = nothing
        return values


def _texts(table: NumberTable, name: str) -> list[str]:
    texts = table.texts(name)
    return [texts[code] for code in table.codes(name).tolist()]


def _fault_of(folder: Entry, look: Callable[[Entry, object], str | None]) -> str | None:
    """Return what is wrong with the tables of a batch, by what was recorded of them; None if nothing is."""
    try:
        facts = read_json(folder / FACTS, dict[str, object])
    except FileNotFoundError:
        return f"{folder}: {FACTS} is missing"
    except (OSError, UserError) as error:
        return one_line(error)
    for name in (f"{table}.parquet" for table in TABLES):
        if not isinstance(facts.get(name), dict):
            return f"{folder}: {name} is not among what was recorded"
        if (fault := look(folder / name, facts[name])) is not None:
            return f"{folder}: {fault}"
    return None
