"""Metrics of all runs that keep only their numbers, read column by column."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions
from dumbbell.results.numbers import fraction_metrics, is_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dumbbell.contract.statistics import FlowStats
    from dumbbell.experiment import Experiment, Run
    from dumbbell.results.directory import ResultsDirectory
    from dumbbell.results.number_store import NumberTable

_TABLES = {"network": "runs", "flow": "flows", "link": "links"}
_OWNER = {"runs": "scheme", "flows": "run_scheme", "links": "run_scheme"}
"""The column of a table that has the scheme or mix of the run."""
_USUAL = {
    "runs": ("goodput_mbps", "throughput_mbps", "owd_p95_ms", "delay_p95_ms", "packet_loss_rate"),
    "flows": ("start_s", "stop_s", "self_inflicted_delay_p95_ms", "mean_srtt_l4", "mean_est_qdelay_l4"),
    "links": ("capacity_mbps",),
}
"""Metrics of every summary: of the network, the first flow, the bottleneck. All of a table are read at once, because
opening a file of a batch costs as much as 10,000 of its numbers."""
_IDENTITY = frozenset({"run", "seed", "events", "sim_wall_s"})
"""Columns of numbers that are no metrics."""
Ints: TypeAlias = "NDArray[np.int64]"
Places: TypeAlias = "tuple[Ints, Ints]"
"""Run index of each row of a table, and position of the row among the run's rows, from 1."""
T = TypeVar("T")
Numbers = TypeVar("Numbers", int, "NDArray[np.int64]")

MISSING, DONE, FAILED = 0, 1, 2
"""States of runs."""

MOST_JUDGED = 1_000
"""Maximum number of runs that are read individually and completely. More runs are read column by column."""
LEAST_JUDGED = 3
"""Minimum number of judged repetitions of each scheme on each path."""


def read_by_columns(experiment: Experiment) -> bool:
    """Return True if the numbers of runs are kept in columns, each run has one flow, and there are many runs.

    Shares of flows need individual runs.
    """
    if not experiment.keeps_numbers or experiment.count <= MOST_JUDGED or experiment.mixes:
        return False
    plans = (experiment.flow_plans(label, path) for path in experiment.paths for label in experiment.labels)
    return all(len(flows) == 1 and flows[0].count == 1 for flows in plans)


def judged_runs(experiment: Experiment) -> Iterator[Run]:
    """Yield the first repetitions: about `MOST_JUDGED` runs, but at least `LEAST_JUDGED` repetitions."""
    repetitions_limit = max(LEAST_JUDGED, MOST_JUDGED * experiment.runs // experiment.count)
    for number in range(1, 1 + min(repetitions_limit, experiment.runs)):
        yield from experiment.repetition(number)


class NumberColumns:
    """Columns of the runs of an experiment: arrays with a value for each run, repetition by repetition.

    Within a repetition, runs are in the order of paths, and on each path in that of schemes and mixes. NaN where a run
    does not have the number.
    """

    def __init__(self, results: ResultsDirectory) -> None:
        self._results = results
        experiment = results.experiment
        self.paths = list(experiment.paths)
        self.schemes = [*experiment.labels, *experiment.mixes]
        self._path_places = {name: place for place, name in enumerate(self.paths)}
        self._scheme_places = {name: place for place, name in enumerate(self.schemes)}
        self.groups = [(path, scheme) for path in self.paths for scheme in self.schemes]
        self.count = experiment.count
        self._batches = results.numbers.whole()
        self._columns: dict[MetricKey, NDArray[np.float64]] = {}
        self._owners: dict[str, list[Places]] = {}
        self._state = np.full(self.count, MISSING, dtype=np.int8)

    @property
    def state(self) -> NDArray[np.int8]:
        """The state of each run: `MISSING`, `DONE`, `FAILED`."""
        self._places("runs")
        return self._state

    def note_places(self, runs: Sequence[Run]) -> None:
        """Pass the places of runs to the store, which would otherwise have to read every row."""
        rows = np.full(self.count, -1, dtype=np.int64)
        begins = [0]
        for owners, _ in self._places("runs"):
            rows[owners] = np.arange(begins[-1], begins[-1] + len(owners))
            begins.append(begins[-1] + len(owners))
        place_of = {}
        for run, row in zip(runs, rows[self.places(runs)].tolist(), strict=True):
            if row >= 0:
                batch = bisect_right(begins, row) - 1
                place_of[run.path, run.scheme, run.run] = (self._batches[batch], row - begins[batch])
        self._results.numbers.note(place_of)

    @cached_property
    def seeds(self) -> NDArray[np.int64]:
        """Seed of each finished run."""
        seeds = np.zeros(self.count, dtype=np.int64)
        for owners, _, table in self._tables("runs", "seed"):
            seeds[owners] = table.integers("seed")
        return seeds

    def places(self, runs: Iterable[Run]) -> NDArray[np.int64]:
        """Return the index of each run in the columns."""
        paths, schemes = self._path_places, self._scheme_places
        return np.array([self._place(run.run, paths[run.path], schemes[run.scheme]) for run in runs], dtype=np.int64)

    def _place(self, run: Numbers, path: Numbers, scheme: Numbers) -> Numbers:
        """Return the indices of runs from their repetitions and the indices of their paths and schemes."""
        return ((run - 1) * len(self.paths) + path) * len(self.schemes) + scheme

    def texts(self, name: str) -> NDArray[np.object_]:
        """Return a string of each run, such as `reason`; None if a run does not have it."""
        all_texts = np.full(self.count, None, dtype=object)
        for owners, _, table in self._tables("runs", name):
            all_texts[owners] = table.words(name) if table.has(name) else None
        return all_texts

    @property
    def flows(self) -> int:
        """Maximum number of flows of a run."""
        return self._most("flows")

    def _most(self, table: str) -> int:
        """Return the maximum number of rows that a run has in a table."""
        return max((int(positions.max(initial=0)) for _, positions in self._places(table)), default=0)

    def is_flow_of(self, scheme: str, number: int) -> NDArray[np.bool_]:
        """Return an array with True for each run whose flow with this number belongs to a scheme."""
        matches = np.zeros(self.count, dtype=bool)
        for owners, positions, table in self._tables("flows", "scheme"):
            is_number = positions == number
            matches[owners[is_number]] = _is_text(table, "scheme", scheme)[is_number]
        return matches

    def failed(self) -> Iterator[Run]:
        """Yield the runs that failed."""
        if (self.state == FAILED).any():
            runs = self._results.experiment.all_runs()
            states = self.state[self.places(runs)]
            yield from (run for run, state in zip(runs, states.tolist(), strict=True) if state == FAILED)

    def metric(self, key: MetricKey) -> NDArray[np.float64]:
        """Return a metric of all runs."""
        self._places(_TABLES[key[0]])  # this may read the metric, too
        if key not in self._columns:
            values = np.full(self.count, np.nan)
            for owners, positions, table in self._tables(_TABLES[key[0]], key[2]):
                _fill(values, key, owners, positions, table)
            self._columns[key] = values
        return self._columns[key]

    @cached_property
    def keys(self) -> list[MetricKey]:
        """Metrics that at least one run has."""
        all_keys: dict[MetricKey, None] = {}
        for level, name in _TABLES.items():
            row_count = self._most(name)
            for batch in self._batches:
                for column in self._results.numbers.metrics(batch, name):
                    if column not in _IDENTITY and not is_label(level, column):
                        numbers = [0] if level == "network" else range(1, row_count + 1)
                        all_keys |= dict.fromkeys((level, number, column) for number in numbers)
        return list(all_keys)

    def _tables(self, name: str, column: str) -> Iterator[tuple[Ints, Ints, NumberTable]]:
        """Yield, for each batch, the result of `_places`, and the table with one column."""
        for batch, (owners, positions) in zip(self._batches, self._places(name), strict=True):
            yield owners, positions, self._results.numbers.table(batch, name, (column,))

    def _places(self, name: str) -> list[Places]:
        """Return, for each batch, the run index of each row of a table, and its position among the run's rows, from 1.

        Raises:
            UserError: If the run of a row is not in the experiment.
        """
        if name in self._owners:
            return self._owners[name]
        level, number = next(level for level, table in _TABLES.items() if table == name), int(name != "runs")
        usual = {metric: np.full(self.count, np.nan) for metric in _USUAL[name]}
        all_places = []
        for order, batch in enumerate(self._batches):
            if name == "runs":
                table = self._results.numbers.table(batch, name, ("path", _OWNER[name], "run", "status", *usual))
                places = self._places_of(batch, name, table)
                self._state[places[0]] = np.where(_is_text(table, "status", "done"), DONE, FAILED)
            else:
                table = self._results.numbers.table(batch, name, ("run", *usual))
                places = self._places_of_runs(order, table) or self._places_of(batch, name)
            for metric, values in usual.items():
                _fill(values, (level, number, metric), *places, table)
            all_places.append(places)
        self._columns |= {(level, number, metric): values for metric, values in usual.items()}
        self._owners[name] = all_places
        return all_places

    def _places_of_runs(self, order: int, table: NumberTable) -> Places | None:
        """Return the places of a batch's runs if a table has one row for each run: rows are in the order of runs.

        None if the table has more or fewer rows.
        """
        places, run = self._places("runs")[order], table.integers("run")
        is_same = len(run) == len(places[0]) and np.array_equal(run, places[0] // len(self.groups) + 1)
        return places if is_same else None

    def _places_of(self, batch: int, name: str, table: NumberTable | None = None) -> Places:
        if table is None:
            table = self._results.numbers.table(batch, name, ("path", _OWNER[name], "run"))
        paths = _indices(table, "path", self._path_places)
        schemes = _indices(table, _OWNER[name], self._scheme_places)
        owners = self._place(table.integers("run"), paths, schemes)
        if len(owners) and (min(paths.min(), schemes.min(), owners.min()) < 0 or owners.max() >= self.count):
            raise UserError(f"{self._results.numbers.folder / str(batch)}: has runs that are none of this experiment")
        begins = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.zeros(0, dtype=bool)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(owners)), 0))
        return owners, np.arange(len(owners)) - first + 1


def _fill(column: NDArray[np.float64], key: MetricKey, owners: Ints, positions: Ints, table: NumberTable) -> None:
    """Put a metric from the rows of a table into the column, at the indices of the runs."""
    level, number, name = key
    values = table.numbers(name) if table.has(name) else np.full(len(owners), np.nan)
    if level == "network":
        column[owners] = values
    else:
        is_number = positions == number
        column[owners[is_number]] = values[is_number]


def _is_text(table: NumberTable, name: str, text: str) -> NDArray[np.bool_]:
    """Return an array with True for each row whose column has the text."""
    matches: NDArray[np.bool_] = np.array([other == text for other in table.texts(name)] or [False])[table.codes(name)]
    return matches


def _indices(table: NumberTable, name: str, places: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the indices of the texts of a column; -1 for an unknown text."""
    codes = np.array([places.get(text, -1) for text in table.texts(name)] or [-1], dtype=np.int64)
    indices: NDArray[np.int64] = codes[table.codes(name)]
    return indices


class NumberedRepetitions(Repetitions):
    """All runs of one scheme on one path, with one flow each. Metrics are read at their first use.

    `flows` has only the tables of flows that start or stop first or last.
    """

    def __init__(self, columns: NumberColumns, place: int, first_runs: Repetitions) -> None:
        super().__init__(*columns.groups[place])
        self._judged = first_runs
        self._columns = columns
        self._part = slice(place, None, len(columns.groups))
        state = columns.state[self._part]
        self._is_good = state == DONE
        self.runs, self.good, self.missing = len(state), int(self._is_good.sum()), int((state == MISSING).sum())
        self.values = _Lazy(columns.keys, self._has, lambda key: self._known(key)[0].tolist())
        self.by_seed = _Lazy(columns.keys, self._has, self._with_seeds)
        self._estimates: dict[MetricKey, Estimate | None] = {}
        self.flows = [[flow] for flow in self._ends()]

    @property
    def judged(self) -> Repetitions:
        """The first runs, read completely, by which conduct is judged."""
        return self._judged

    def having(self, *names: str) -> set[tuple[str, int]]:
        """Return the entities that have one of these metrics; only their columns are read."""
        keys = [key for key in self._columns.keys if key[2] in names]
        return {key[:2] for key in keys if key in self.values}

    def _ends(self) -> Iterator[FlowStats]:
        starts, stops = (self._columns.metric(("flow", 1, name))[self._part] for name in ("start_s", "stop_s"))
        good_indices = np.flatnonzero(self._is_good)
        for times in (starts, stops) if len(good_indices) else ():
            for place in (good_indices[times[good_indices].argmin()], good_indices[times[good_indices].argmax()]):
                start_s, stop_s = float(starts[place]), float(stops[place])
                yield {"flow": 1, "scheme": self.scheme, "start_s": start_s, "stop_s": stop_s}

    def estimate(self, key: MetricKey) -> Estimate | None:
        """Return mean and interval of one metric; None if no run has it."""
        if key not in self._estimates:
            fraction = (key[0], key[2]) in fraction_metrics()
            self._estimates[key] = Estimate.of(self._known(key)[0], (), fraction) if key in self.values else None
        return self._estimates[key]

    def mean(self, key: MetricKey) -> float | None:
        """Return the mean of one metric without its interval, which takes long to compute; None if no run has it."""
        if (estimate := self._estimates.get(key)) is not None:
            return estimate.mean
        mean_and_ends = core.mean_and_ends(self._known(key)[0]) if key in self.values else None
        return None if mean_and_ends is None else mean_and_ends[0]

    def _known(self, key: MetricKey) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the values of a metric for the good runs that have it, and the mask of these runs."""
        values = self._columns.metric(key)[self._part]
        mask = self._is_good & ~np.isnan(values)
        return values[mask], mask

    def _has(self, key: MetricKey) -> bool:
        return bool((self._is_good & ~np.isnan(self._columns.metric(key)[self._part])).any())

    def _with_seeds(self, key: MetricKey) -> dict[int | None, float]:
        values, mask = self._known(key)
        return dict(zip(self._columns.seeds[self._part][mask].tolist(), values.tolist(), strict=True))


class _Lazy(Mapping[MetricKey, T]):
    """Values by metric, each read once, at its first use. A metric without values is absent."""

    def __init__(
        self, keys: Collection[MetricKey], has: Callable[[MetricKey], bool], read: Callable[[MetricKey], T]
    ) -> None:
        self._keys, self._has, self._read = dict.fromkeys(keys), cache(has), cache(read)

    def __contains__(self, key: object) -> bool:
        return key in self._keys and self._has(key)

    def __getitem__(self, key: MetricKey) -> T:
        if key not in self:
            raise KeyError(key)
        return self._read(key)

    def __iter__(self) -> Iterator[MetricKey]:
        return (key for key in self._keys if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def numbered_repetitions(
    columns: NumberColumns, first_groups: Mapping[tuple[str, str], Repetitions]
) -> dict[tuple[str, str], Repetitions]:
    """Return the runs grouped by path and scheme; `first_groups` has the first runs of each group."""
    return {key: NumberedRepetitions(columns, place, first_groups[key]) for place, key in enumerate(columns.groups)}
