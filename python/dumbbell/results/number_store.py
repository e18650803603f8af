"""The numbers of runs without directories: tables of batches below `numbers`, a folder for each batch."""

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
"""Name of the folder with the batches."""
FACTS = "files.json"
"""Name of a batch's file with the sizes and digests of its tables."""
_KEPT_OPEN = 2
"""Number of batches whose tables stay in memory. Runs are read in the order in which they were made."""

_NUMBER = re.compile("[1-9][0-9]{0,8}")

RunKey = tuple[str, str, int]
"""Path, scheme or mix, and repetition of a run."""


class NumberStore:
    """The batches of a results directory. If a run was made several times, the last one counts.

    A batch with a missing table, or with a table of another size than recorded, is damaged: its runs are not read.
    """

    def __init__(self, root: Entry) -> None:
        self.folder = root / NUMBERS
        self._places: dict[RunKey, tuple[int, int]] = {}
        self._read: set[int] = set()
        self._faults: dict[int, str | None] = {}
        self._open: OrderedDict[int, NumberBatch] = OrderedDict()

    def __reduce__(self) -> tuple[type[NumberStore], tuple[Entry]]:
        """Return the constructor and its argument, for an equal store in another process, without the cache."""
        return NumberStore, (self.folder.parent,)

    def batches(self) -> list[int]:
        """Return the numbers of the batches in ascending order."""
        return sorted(int(name) for name in self.folder.names() if _NUMBER.fullmatch(name))

    def whole(self) -> list[int]:
        """Return the numbers of the batches that are not damaged."""
        return [number for number in self.batches() if self._fault(number) is None]

    def damaged(self) -> list[str]:
        """Return a line for each damaged batch, or one line if their folder is no folder."""
        if self.folder.status() is not None and not self.folder.is_folder():
            return [f"{self.folder}: is no folder"]
        return [fault for number in self.batches() if (fault := self._fault(number)) is not None]

    def unused(self) -> Entry:
        """Return the place of the next batch."""
        return self.folder / str(max(self.batches(), default=0) + 1)

    def statistics(self, run: Run) -> RunStatistics | None:
        """Return the statistics of a run; None if no batch has it.

        Raises:
            UserError: If the batch of the run is damaged, or if no undamaged batch has the run; the message has the
                place.
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
        """Record the places of some runs, by batch and row, so that no table has to be searched for them."""
        self._places |= places

    def finished(self) -> Iterator[RunKey]:
        """Yield the successful runs of the undamaged batches.

        Raises:
            UserError: If a table is damaged; the message has the place.
        """
        status: dict[RunKey, str] = {}
        for number in self.whole():
            for key, state in self._states(number):
                status[key] = state
        yield from (key for key, state in status.items() if state == "done")

    def record(self, folder: Entry) -> None:
        """Record the sizes and digests of the complete tables of a batch in its folder.

        Raises:
            OSError: If a file cannot be read or written.
        """
        write_atomically(folder / FACTS, to_json(facts_of(folder, [f"{name}.parquet" for name in TABLES])))

    def faults(self) -> dict[int, str]:
        """Return the first fault of each batch, according to the digests of its tables."""
        first_faults = {number: _fault_of(self.folder / str(number), fault_of) for number in self.batches()}
        return {number: fault for number, fault in first_faults.items() if fault is not None}

    def remove(self, number: int) -> None:
        """Remove a batch. Then its runs are missing.

        Raises:
            OSError: If the batch cannot be removed.
        """
        (self.folder / str(number)).clear()
        self._faults.pop(number, None)
        self._open.pop(number, None)
        self._read.discard(number)  # another batch may get this number
        self._places = {run: place for run, place in self._places.items() if place[0] != number}

    def _fault(self, number: int) -> str | None:
        """Return the fault of a batch, according to the sizes of its tables: reading whole files takes too long."""
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
        """Record the runs of the batches that were made since the last call."""
        for number in self.whole():
            if number not in self._read:
                for row, (key, _) in enumerate(self._states(number)):
                    self._places[key] = (number, row)
                self._read.add(number)

    def _states(self, number: int) -> Iterator[tuple[RunKey, str]]:
        """Yield each run of a batch with its status."""
        states = self.table(number, "runs", ("path", "scheme", "status", "run"))
        paths, schemes, statuses = (_texts(states, name) for name in ("path", "scheme", "status"))
        for path, scheme, run, status in zip(paths, schemes, states.integers("run").tolist(), statuses, strict=True):
            yield (path, scheme, run), status

    def table(self, number: int, name: str, columns: Sequence[str]) -> NumberTable:
        """Return columns of a table of a batch: `runs`, `flows` or `links`.

        Raises:
            UserError: If the table is damaged, or has no such columns; the message has the place.
        """
        file = self.folder / str(number) / f"{name}.parquet"
        try:
            return NumberTable(file, read_numbers(file, columns))
        except (core.Error, OSError) as error:
            raise UserError(one_line(error)) from None

    def metrics(self, number: int, name: str) -> list[str]:
        """Return the names of the columns of numbers of a table of a batch.

        Raises:
            UserError: If the table is damaged; the message has the place.
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
        """Return a column: numbers, or the indices of strings in the `texts` of the column.

        Raises:
            UserError: If there is no such column.
        """
        if name not in self._names:
            raise UserError(f"{self._file}: has no column `{name}`")
        import numpy as np  # whoever makes runs starts without

        return np.asarray(self._table.column(name))

    def integers(self, name: str) -> NDArray[Any]:
        """Return a column with an integer in each row.

        Raises:
            UserError: If the column has other rows.
        """
        values = self.column(name)
        if self.texts(name) or values.dtype.kind != "i" or self._table.gaps(name) is not None:
            raise UserError(f"{self._file}: column `{name}`: allowed is a whole number in each row")
        return values

    def codes(self, name: str) -> NDArray[Any]:
        """Return a column with a string in each row, as the indices of the strings in `texts`.

        Raises:
            UserError: If the column has other rows.
        """
        values = self.column(name)
        if self._table.gaps(name) is not None or (len(values) and not self.texts(name)):
            raise UserError(f"{self._file}: column `{name}`: allowed is a text in each row")
        return values

    def texts(self, name: str) -> list[str]:
        """Return the different strings of a column; empty for a column of numbers."""
        return (self._table.dictionary(name) or []) if name in self._names else []

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, NaN for rows without a number; all NaN for a column of strings."""
        import numpy as np  # likewise

        values = self.column(name)
        if self.texts(name):
            return np.full(len(values), np.nan)
        if values.dtype.kind == "f":  # gaps are NaN already
            return values
        return self._with_gaps(name, values.astype(np.float64), np.nan)

    def words(self, name: str) -> NDArray[np.object_]:
        """Return a column of strings, None for rows without a string; all None for a column of numbers."""
        import numpy as np  # likewise

        codes, texts = self.column(name), self.texts(name)
        if not texts:
            return np.full(len(codes), None, dtype=object)
        return self._with_gaps(name, np.array(texts, dtype=object)[codes], None)

    def _with_gaps(self, name: str, values: NDArray[Any], filler: object) -> NDArray[Any]:
        if (gaps := self._table.gaps(name)) is not None:
            values[gaps] = filler
        return values


def _texts(table: NumberTable, name: str) -> list[str]:
    texts = table.texts(name)
    return [texts[code] for code in table.codes(name).tolist()]


def _fault_of(folder: Entry, look: Callable[[Entry, object], str | None]) -> str | None:
    """Return the first fault of a batch's tables according to the records; None without a fault."""
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
