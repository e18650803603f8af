"""The runs of a results directory, read column by column."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.base.errors import UserError, one_line
from dumbbell.results.directory import DAMAGED, ResultsDirectory
from dumbbell.results.sql.index_file import index_state
from dumbbell.results.sql.runs_cache import OpenRuns, seen_now

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_RUNS = (
    "SELECT id, name, path, aut, run, status, reason, backend, started_at, run_seed, sim_wall_s FROM experiment"
    " ORDER BY id"
)


MOST_LOOKED_AT = 20_000
"""Runs whose files are looked at whenever somebody asks for the table; that takes 10 microseconds for each."""


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
        """Read what there is.

        Raises:
            UserError: there is no place for the numbers.
        """
        self.results = results
        self._lock = threading.Lock()
        self._state = index_state(results.directory)
        self._opened = OpenRuns(results)
        self.planned = {(run.path, run.scheme, run.run): run for run in results.planned()}
        """The runs of the experiment by path, scheme and number."""
        name = results.experiment.name
        made = {row[0]: IndexedRun(row[1] or name, *row[2:]) for row in self._select(_OF_RUNS)}
        ids, self.runs = self._in_order(made)
        self._numbers = ids
        numbered = [(number, row) for row, number in enumerate(ids) if number is not None]
        numbered.sort()
        self._ids = np.array([number for number, _ in numbered], dtype=np.int64)
        self._places = np.array([row for _, row in numbered], dtype=np.int64)

    @property
    def is_current(self) -> bool:
        """True if the statistics of all runs are those that were read.

        Of more than `MOST_LOOKED_AT` runs: if dumbbell has recorded no run since.
        """
        if index_state(self.results.directory) != self._state:
            return False
        return len(self.planned) > MOST_LOOKED_AT or seen_now(self.results) == self._opened.seen

    def _in_order(self, made: dict[int, IndexedRun]) -> tuple[list[int | None], list[IndexedRun]]:
        """Return all runs in the order in which they are planned, each with its number in the index, if it has one."""
        experiment, damaged = self.results.experiment, self._opened.damaged
        numbers = {(run.path, run.scheme, run.run): number for number, run in made.items()}
        why = self.results.why_missing
        name, backend = experiment.name, experiment.backend.full_name
        ids = [numbers.get(key) for key in self.planned]
        runs = []
        for (key, run), number in zip(self.planned.items(), ids, strict=True):
            status, reason = (DAMAGED, damaged[key]) if key in damaged else ("missing", why)
            absent = IndexedRun(name, run.path, run.scheme, run.run, status, reason, backend, None, run.seed, None)
            runs.append(absent if number is None else made[number])
        return ids, runs

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
            column[self._places[np.searchsorted(self._ids, ids)]] = np.array(
                [row[1] for row in known], dtype=np.float64
            )

    def _select(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._opened.connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise UserError(f"the numbers of {self.results.directory}: {one_line(error)}") from None

    def close(self) -> None:
        """Close the file."""
        self._opened.close()
