"""Runs of results that kept numbers only, for the explorer: column by column."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.results.analysis.number_columns import DONE, MISSING, NumberColumns
from dumbbell.results.sql.index import IndexedRun, RunsIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dumbbell.results.directory import ResultsDirectory


class NumberedRuns:
    """Planned runs in order, including those that were not made, as `RunsIndex` has them."""

    def __init__(self, results: ResultsDirectory) -> None:
        self.results = results
        self._batches = results.numbers.whole()
        self._columns = NumberColumns(results)
        runs = results.planned()
        self._places = self._columns.places(runs)
        self.planned = {(run.path, run.scheme, run.run): run for run in runs}
        """Runs of the experiment by path, scheme and number."""
        name, backend, missing_reason = (
            results.experiment.name,
            results.experiment.backend.full_name,
            results.why_missing,
        )
        states = self._columns.state[self._places].tolist()
        starts, reasons = (self._columns.texts(key)[self._places].tolist() for key in ("started_at", "reason"))
        walls = self._columns.metric(("network", 0, "sim_wall_s"))[self._places].tolist()
        self.runs = []
        """Facts of each run."""
        for run, state, began, reason, wall in zip(runs, states, starts, reasons, walls, strict=True):
            status, explanation = {MISSING: ("missing", missing_reason), DONE: ("done", None)}.get(
                state, ("failed", reason)
            )
            wall_s = wall if state == DONE else None
            self.runs.append(
                IndexedRun(name, run.path, run.scheme, run.run, status, explanation, backend, began, run.seed, wall_s)
            )

    @property
    def is_current(self) -> bool:
        """True if no batch was made since this was read."""
        return self.results.numbers.whole() == self._batches

    @cached_property
    def metrics(self) -> dict[str, list[str]]:
        """Names of the metrics of the runs, each with its levels: `network`, `flow`, `link`."""
        levels_by_name: dict[str, list[str]] = {}
        for level, _, name in sorted(self._columns.keys, key=lambda key: (key[2], key[0])):
            if level not in (levels := levels_by_name.setdefault(name, [])):
                levels.append(level)
        return levels_by_name

    def metric(self, name: str) -> NDArray[np.float64]:
        """Return a metric of all runs: of the network, else the mean over the flows, else that of the bottleneck."""
        levels = self.metrics.get(name, ())
        column = np.full(len(self._columns.state), np.nan)
        if "link" in levels:
            column = _first(self._columns.metric(("link", 1, name)), column)
        if "flow" in levels:
            column = _first(self._mean_of_flows(name), column)
        if "network" in levels:
            column = _first(self._columns.metric(("network", 0, name)), column)
        return column[self._places]

    def _mean_of_flows(self, name: str) -> NDArray[np.float64]:
        flows = [self._columns.metric(("flow", number, name)) for number in range(1, self._columns.flows + 1)]
        counts = np.sum([~np.isnan(column) for column in flows], axis=0)
        total = np.sum([np.nan_to_num(column) for column in flows], axis=0)
        return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)

    def share(self, scheme: str) -> NDArray[np.float64]:
        """Return the share of the payload that the flows of a scheme get in each run, as a fraction."""
        column = np.full(len(self._columns.state), np.nan)
        for number in range(1, self._columns.flows + 1):
            shares = (self._columns.metric(("flow", number, name)) for name in ("competing_share", "payload_share"))
            share = _first(*shares)
            selection = self._columns.is_flow_of(scheme, number) & ~np.isnan(share)
            column[selection] = np.nan_to_num(column[selection]) + share[selection]
        return column[self._places]

    @cached_property
    def competing(self) -> list[str]:
        """Schemes of flows that share a path with flows of another scheme in some run."""
        experiment = self.results.experiment
        schemes: set[str] = set()
        for path, label in self._columns.groups:
            names = {plan.scheme for plan in experiment.flow_plans(label, path)}
            schemes |= names if len(names) > 1 else set()
        return sorted(schemes)

    def parameters(self) -> list[str]:
        """Return the names of the axes of the grid; `path` is the axis of the paths that the cells are made of."""
        names = {name for cell in self.results.experiment.cells.values() for name in cell.coordinates}
        return sorted(names) if names != {"path"} else []

    def parameter(self, name: str) -> list[str | None]:
        """Return the value of an axis in all runs, as text."""
        cells = self.results.experiment.cells
        values = {path: str(value) for path, cell in cells.items() if (value := cell.coordinates.get(name)) is not None}
        return [values.get(run.path) for run in self.runs]

    def close(self) -> None:
        """Do nothing: no file is open."""


def _first(first: NDArray[np.float64], fallback: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first values, with the fallback in place of NaN."""
    return np.where(np.isnan(first), fallback, first)


def runs_index(results: ResultsDirectory) -> RunsIndex | NumberedRuns:
    """Return the runs of a results directory, to be read column by column; to be closed.

    Raises:
        UserError: The runs cannot be read.
    """
    return NumberedRuns(results) if results.experiment.keeps_numbers else RunsIndex(results)
