"""Runs of a results directory, read column by column."""

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
from dumbbell.results.sql.runs_cache import OpenRuns, statistics_stamps

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_RUNS = (
    "SELECT id, name, path, aut, run, status, reason, backend, started_at, run_seed, sim_wall_s FROM experiment"
    " ORDER BY id"
)


MOST_LOOKED_AT = 20_000
"""Maximum runs whose files are examined at each request for the table, 10 microseconds each."""


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


# Each run's row is looked up: the table has no index by name, and reading all of it takes seconds.
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
    """Planned runs of a results directory in order, including those that were not made.

    Numbers are arrays with one value per run; NaN if a run lacks the number.
    """

    def __init__(self, results: ResultsDirectory) -> None:
        """Read the runs.

        Raises:
            UserError: There is no place for the numbers.
        """
        self.results = results
        self._lock = threading.Lock()
        self._state = index_state(results.directory)
        self._opened = OpenRuns(results)
        self.planned = {(run.path, run.scheme, run.run): run for run in results.planned()}
        """Runs of the experiment by path, scheme and number."""
        name = results.experiment.name
        indexed_runs = {row[0]: IndexedRun(row[1] or name, *row[2:]) for row in self._select(_OF_RUNS)}
        ids, self.runs = self._in_order(indexed_runs)
        self._numbers = ids
        numbers_with_rows = [(number, row) for row, number in enumerate(ids) if number is not None]
        numbers_with_rows.sort()
        self._ids = np.array([number for number, _ in numbers_with_rows], dtype=np.int64)
        self._places = np.array([row for _, row in numbers_with_rows], dtype=np.int64)

    @property
    def is_current(self) -> bool:
        """True if the statistics of all runs are unchanged since the index read them.

        For more than `MOST_LOOKED_AT` runs: True if dumbbell has recorded no run since.
        """
        if index_state(self.results.directory) != self._state:
            return False
        return len(self.planned) > MOST_LOOKED_AT or statistics_stamps(self.results) == self._opened.stamps

    def _in_order(self, indexed_runs: dict[int, IndexedRun]) -> tuple[list[int | None], list[IndexedRun]]:
        """Return all planned runs in order, each with its number in the index, if it has one."""
        experiment, faults = self.results.experiment, self._opened.faults
        numbers = {(run.path, run.scheme, run.run): number for number, run in indexed_runs.items()}
        missing_reason = self.results.why_missing
        name, backend = experiment.name, experiment.backend.full_name
        ids = [numbers.get(key) for key in self.planned]
        runs = []
        for (key, run), number in zip(self.planned.items(), ids, strict=True):
            status, reason = (DAMAGED, faults[key]) if key in faults else ("missing", missing_reason)
            absent = IndexedRun(name, run.path, run.scheme, run.run, status, reason, backend, None, run.seed, None)
            runs.append(absent if number is None else indexed_runs[number])
        return ids, runs

    @cached_property
    def metrics(self) -> dict[str, list[str]]:
        """Names of the metrics of the runs, each with its levels: `network`, `flow`, `link`."""
        ids = self._ids[:: max(1, len(self._ids) // 200)].tolist()
        places = ", ".join("?" * len(ids))
        rows = self._select(
            f"SELECT DISTINCT entity_kind, name FROM metric WHERE experiment_id IN ({places}) ORDER BY name", ids
        )
        levels_by_name: dict[str, list[str]] = {}
        for level, name in rows:
            levels_by_name.setdefault(str(name), []).append(str(level))
        return levels_by_name

    def metric(self, name: str) -> NDArray[np.float64]:
        """Return a metric of all runs: of the network, else the mean over the flows, else that of the bottleneck."""
        column = self._empty()
        levels = self.metrics.get(name, ())
        for statement, level in (_OF_BOTTLENECK, "link"), (_OF_FLOWS, "flow"), (_OF_NETWORK, "network"):
            if level in levels:
                self._put(column, self._select(statement, (level, name)))
        return column

    def share(self, scheme: str) -> NDArray[np.float64]:
        """Return the share of the payload that the flows of a scheme get in each run, as a fraction."""
        condition = (
            "m.experiment_id = f.experiment_id AND m.entity_kind = 'flow' AND m.entity_id = f.flow_id AND m.name ="
        )
        rows = self._select(
            "SELECT f.experiment_id, sum(coalesce("
            f"(SELECT m.value FROM metric m WHERE {condition} 'competing_share'),"
            f"(SELECT m.value FROM metric m WHERE {condition} 'payload_share')))"
            " FROM flow f WHERE f.cca = ? GROUP BY f.experiment_id",
            (scheme,),
        )
        column = self._empty()
        self._put(column, rows)
        return column

    @cached_property
    def competing(self) -> list[str]:
        """Schemes of flows that share a path with flows of another scheme in some run."""
        rows = self._select(
            "SELECT DISTINCT cca FROM flow WHERE experiment_id IN (SELECT experiment_id FROM flow"
            " GROUP BY experiment_id HAVING count(DISTINCT cca) > 1) ORDER BY cca"
        )
        return [str(name) for (name,) in rows]

    def parameters(self) -> list[str]:
        """Return the names of the axes of the grid, with `path` for the paths that the cells are made of."""
        rows = self._select("SELECT DISTINCT name FROM parameter WHERE name != 'aut' ORDER BY name")
        names = list(dict.fromkeys(str(name) for (name,) in rows))
        return names if any(name != "path" for name in names) else []

    def parameter(self, name: str) -> list[str | None]:
        """Return the value of an axis in all runs, as text."""
        values = dict(self._select("SELECT experiment_id, value FROM parameter WHERE name = ?", (name,)))
        cells = self.results.experiment.cells
        texts: list[str | None] = []
        for number, run in zip(self._numbers, self.runs, strict=True):
            cell = cells.get(run.path)
            if number is not None:
                value = values.get(number)
                texts.append(None if value is None else str(value))
            else:
                plan_value = None if cell is None else cell.base if name == "path" else cell.axis_values.get(name)
                texts.append(None if plan_value is None else str(plan_value))
        return texts

    def _empty(self) -> NDArray[np.float64]:
        return np.full(len(self.runs), np.nan)

    def _put(self, column: NDArray[np.float64], rows: Sequence[tuple[Any, ...]]) -> None:
        """Put values into the rows of their runs, except None (the sum of nothing)."""
        valid_rows = [row for row in rows if row[1] is not None]
        if valid_rows:
            ids = np.array([row[0] for row in valid_rows], dtype=np.int64)
            column[self._places[np.searchsorted(self._ids, ids)]] = np.array(
                [row[1] for row in valid_rows], dtype=np.float64
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
