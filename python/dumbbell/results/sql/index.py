"""The index of a results directory, read column by column: many thousand runs without opening a file of each."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.base.errors import UserError, one_line
from dumbbell.results.directory import MISSING, NOT_YET, RUNNING, ResultsDirectory
from dumbbell.results.sql.database import INDEX, Database
from dumbbell.results.sql.index_file import index_state, open_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_RUNS = (
    "SELECT id, name, path, aut, run, status, reason, backend, started_at, run_seed, sim_wall_s FROM experiment"
    " ORDER BY id"
)
_KINDS = (int, str | None, str, str, int, str, str | None, str | None, str | None, int | None, int | float | None)
"""Of its columns."""
_STEPS_PER_LOOK = 10_000_000
"""Instructions of SQLite between two looks at whether a statement has had more than its share."""
_MOST_LOOKS = 100
"""A statement that takes more than this is none of a table of ours: a stranger's file could go on for ever."""


@dataclass(frozen=True)
class IndexedRun:
    """A row of the table of runs. `started_at` is a time in ISO 8601."""

    experiment: str
    path: str
    scheme: str
    run: int
    status: str
    reason: str | None
    backend: str
    started_at: str | None
    seed: int | None
    sim_wall_s: float | None


# Each run's row is looked up: the table has no index by name, and to read all of it takes seconds.
_OF_ONE = (
    "SELECT x.id, m.value FROM experiment x CROSS JOIN metric m ON m.experiment_id = x.id AND m.entity_kind = ?"
    " AND m.entity_id = {number} AND m.name = ?"
)
_OF_NETWORK, _OF_BOTTLENECK = _OF_ONE.format(number=0), _OF_ONE.format(number=1)
_OF_FLOWS = (
    "SELECT f.experiment_id, avg(m.value) FROM flow f CROSS JOIN metric m ON m.experiment_id = f.experiment_id"
    " AND m.entity_kind = ? AND m.entity_id = f.flow_id AND m.name = ? GROUP BY f.experiment_id"
)


class RunsIndex:
    """The runs of a results directory in the order in which they are planned, those that were not made included.

    Numbers are arrays with one value per run; NaN where a run does not have the number.
    """

    def __init__(self, results: ResultsDirectory) -> None:
        """Open the index of the directory, or make one for this object where there is none that can be read.

        Raises:
            UserError: neither is possible.
        """
        self.results = results
        self._lock = threading.Lock()
        self._made: TemporaryDirectory[str] | None = None
        self.state = index_state(results.directory)
        try:
            self._connection = open_index(results.directory / INDEX, results.is_written)
            found = self._rows()
        except (UserError, sqlite3.Error):
            self._connection = self._new()
            found = self._rows()
        self.planned = {(run.path, run.scheme, run.run): run for run in results.planned()}
        """The runs of the experiment by path, scheme and number."""
        made = {int(row[0]): IndexedRun(str(row[1] or results.experiment.name), *row[2:]) for row in found}
        ids, self.runs = self._in_order(made)
        self._numbers = ids
        numbered = [(number, row) for row, number in enumerate(ids) if number is not None]
        numbered.sort()
        self._ids = np.array([number for number, _ in numbered], dtype=np.int64)
        self._places = np.array([row for _, row in numbered], dtype=np.int64)

    def _new(self) -> sqlite3.Connection:
        self._made = TemporaryDirectory(prefix="dumbbell-index-")
        file = Path(self._made.name) / INDEX
        with closing(Database(file)) as database:
            database.rebuild(self.results, self.results.settled())
        return open_index(file, is_written=False)

    def _rows(self) -> list[tuple[Any, ...]]:
        """Return the table of runs.

        Raises:
            UserError: it is none of ours.
        """
        found = self._select(_OF_RUNS)
        if not all(isinstance(value, kinds) for row in found for value, kinds in zip(row, _KINDS, strict=True)):
            raise UserError(f"{self.results.directory / INDEX}: has a value of another kind")
        return found

    def _in_order(self, made: dict[int, IndexedRun]) -> tuple[list[int | None], list[IndexedRun]]:
        """Return all runs in the order in which they are planned, each with its number in the index, if it has one."""
        experiment = self.results.experiment
        numbers = {(run.path, run.scheme, run.run): number for number, run in made.items()}
        why = NOT_YET if experiment.every_s is not None else RUNNING if self.results.is_written else MISSING
        name, backend = experiment.name, experiment.backend
        ids: list[int | None] = []
        runs = []
        for key, run in self.planned.items():
            number = numbers.pop(key, None)
            ids.append(number)
            runs.append(
                IndexedRun(name, run.path, run.scheme, run.run, "missing", why, backend, None, run.seed, None)
                if number is None
                else made[number]
            )
        ids += numbers.values()  # of runs that are no longer planned
        return ids, runs + [made[number] for number in numbers.values()]

    @cached_property
    def metrics(self) -> dict[str, list[str]]:
        """The names of metrics that runs have, each with its levels: `network`, `flow`, `link`."""
        ids = self._ids[:: max(1, len(self._ids) // 200)].tolist()
        places = ", ".join("?" * len(ids))
        rows = self._select(
            f"SELECT DISTINCT entity_kind, name FROM metric WHERE experiment_id IN ({places}) ORDER BY name", ids
        )
        found: dict[str, list[str]] = {}
        for level, name in rows:
            found.setdefault(str(name), []).append(str(level))
        return found

    def metric(self, name: str) -> NDArray[np.float64]:
        """Return a metric of all runs: of the network, else the mean over the flows, else that of the bottleneck."""
        column = self._empty()
        levels = self.metrics.get(name, ())
        for of, level in (_OF_BOTTLENECK, "link"), (_OF_FLOWS, "flow"), (_OF_NETWORK, "network"):
            if level in levels:
                self._put(column, self._select(of, (level, name)))
        return column

    def share(self, scheme: str) -> NDArray[np.float64]:
        """Return the share of the payload that the flows of a scheme get in each run, as a fraction."""
        of = "m.experiment_id = f.experiment_id AND m.entity_kind = 'flow' AND m.entity_id = f.flow_id AND m.name ="
        rows = self._select(
            "SELECT f.experiment_id, sum(coalesce("
            f"(SELECT m.value FROM metric m WHERE {of} 'competing_share'),"
            f"(SELECT m.value FROM metric m WHERE {of} 'payload_share')))"
            " FROM flow f WHERE f.cca = ? GROUP BY f.experiment_id",
            (scheme,),
        )
        column = self._empty()
        self._put(column, rows)
        return column

    @cached_property
    def competing(self) -> list[str]:
        """The schemes of flows that share a path with flows of another scheme in some run."""
        rows = self._select(
            "SELECT DISTINCT cca FROM flow WHERE experiment_id IN (SELECT experiment_id FROM flow"
            " GROUP BY experiment_id HAVING count(DISTINCT cca) > 1) ORDER BY cca"
        )
        return [str(name) for (name,) in rows]

    def parameters(self) -> list[str]:
        """Return the names of the axes of the grid; with the first of them, `path`, is what the cells are made of."""
        rows = self._select("SELECT DISTINCT name FROM parameter WHERE name != 'aut' ORDER BY name")
        names = list(dict.fromkeys(str(name) for (name,) in rows))
        return names if any(name != "path" for name in names) else []

    def parameter(self, name: str) -> list[str | None]:
        """Return the value of an axis in all runs, as text."""
        found = dict(self._select("SELECT experiment_id, value FROM parameter WHERE name = ?", (name,)))
        cells = self.results.experiment.cells
        texts: list[str | None] = []
        for number, run in zip(self._numbers, self.runs, strict=True):
            cell = cells.get(run.path)
            if number is not None:
                value = found.get(number)
                texts.append(None if value is None else str(value))
            else:
                planned = None if cell is None else cell.base if name == "path" else cell.axis_values.get(name)
                texts.append(None if planned is None else str(planned))
        return texts

    def _empty(self) -> NDArray[np.float64]:
        return np.full(len(self.runs), np.nan)

    def _put(self, column: NDArray[np.float64], rows: Sequence[tuple[Any, ...]]) -> None:
        """Put values into the rows of their runs. A value that is none (of a sum of nothing) puts nothing."""
        known = [row for row in rows if row[1] is not None]
        if known:
            ids = np.array([row[0] for row in known], dtype=np.int64)
            if not all(isinstance(row[1], int | float) for row in known):
                raise UserError(f"{self.results.directory / INDEX}: has a text among its numbers")
            column[self._places[np.searchsorted(self._ids, ids)]] = np.array(
                [row[1] for row in known], dtype=np.float64
            )

    def _select(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        looks = 0

        def look() -> bool:
            nonlocal looks
            looks += 1
            return looks > _MOST_LOOKS

        with self._lock:
            self._connection.set_progress_handler(look, _STEPS_PER_LOOK)
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise UserError(f"{self.results.directory / INDEX}: {one_line(error)}") from None

    def close(self) -> None:
        """Close the file; remove the index that was made for this object."""
        self._connection.close()
        if self._made is not None:
            self._made.cleanup()
