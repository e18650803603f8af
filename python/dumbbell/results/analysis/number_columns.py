"""Metrics of all runs whose numbers alone are kept, read column by column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from dumbbell.base.errors import UserError
from dumbbell.results.analysis.summary import MetricKey, Repetitions
from dumbbell.results.numbers import is_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dumbbell.contract.statistics import FlowStats
    from dumbbell.experiment import Experiment, Run
    from dumbbell.results.directory import ResultsDirectory
    from dumbbell.results.number_store import NumberTable

_TABLES = {"network": "runs", "flow": "flows", "link": "links"}
_OWNER = {"runs": "scheme", "flows": "run_scheme", "links": "run_scheme"}
"""The column of a table that has the scheme or mix of the run."""
_IDENTITY = frozenset({"run", "seed", "events", "sim_wall_s"})
"""Columns of numbers that are no metrics."""
T = TypeVar("T")
Numbers = TypeVar("Numbers", int, "NDArray[np.int64]")

MISSING, DONE, FAILED = 0, 1, 2
"""States of runs."""

MOST_JUDGED = 1_000
"""Runs that are read one by one, with all that they have. More runs are read column by column."""
LEAST_JUDGED = 3
"""Repetitions of each scheme on each path that are judged at least."""


def read_by_columns(experiment: Experiment) -> bool:
    """Return True if the numbers of runs are kept in columns, each run has one flow, and the runs are many.

    Shares of flows are made from each run.
    """
    if not experiment.keeps_numbers or experiment.count <= MOST_JUDGED or experiment.mixes:
        return False
    plans = (experiment.flow_plans(label, path) for path in experiment.paths for label in experiment.labels)
    return all(len(flows) == 1 and flows[0].count == 1 for flows in plans)


def judged_runs(experiment: Experiment) -> Iterator[Run]:
    """Yield the first repetitions, as many as `MOST_JUDGED` runs are, but at least `LEAST_JUDGED`."""
    most = max(LEAST_JUDGED, MOST_JUDGED * experiment.runs // experiment.count)
    for number in range(1, 1 + min(most, experiment.runs)):
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
        self._owners: dict[str, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}

    @cached_property
    def state(self) -> NDArray[np.int8]:
        """The state of each run: `MISSING`, `DONE`, `FAILED`."""
        state = np.full(self.count, MISSING, dtype=np.int8)
        for owners, _, table in self._tables("runs", "status"):
            state[owners] = np.where(_is_text(table, "status", "done"), DONE, FAILED)
        return state

    @cached_property
    def seeds(self) -> NDArray[np.int64]:
        """The seed of each run that was made."""
        seeds = np.zeros(self.count, dtype=np.int64)
        for owners, _, table in self._tables("runs", "seed"):
            seeds[owners] = table.integers("seed")
        return seeds

    def places(self, runs: Iterable[Run]) -> NDArray[np.int64]:
        """Return where each run is in the columns."""
        paths, schemes = self._path_places, self._scheme_places
        return np.array([self._place(run.run, paths[run.path], schemes[run.scheme]) for run in runs], dtype=np.int64)

    def _place(self, run: Numbers, path: Numbers, scheme: Numbers) -> Numbers:
        """Return the place of runs, from their repetitions and the places of their paths and schemes."""
        return ((run - 1) * len(self.paths) + path) * len(self.schemes) + scheme

    def texts(self, name: str) -> NDArray[np.object_]:
        """Return a text of each run, such as `reason`; None where a run does not have the text."""
        found = np.full(self.count, None, dtype=object)
        for owners, _, table in self._tables("runs", name):
            found[owners] = table.words(name) if table.has(name) else None
        return found

    @property
    def flows(self) -> int:
        """The most flows that a run has."""
        return self._most("flows")

    def _most(self, table: str) -> int:
        """Return the most rows of a table that a run has."""
        return max((int(positions.max(initial=0)) for _, positions in self._places(table)), default=0)

    def is_flow_of(self, scheme: str, number: int) -> NDArray[np.bool_]:
        """Return in which runs a flow, by its number, is of a scheme."""
        found = np.zeros(self.count, dtype=bool)
        for owners, positions, table in self._tables("flows", "scheme"):
            wanted = positions == number
            found[owners[wanted]] = _is_text(table, "scheme", scheme)[wanted]
        return found

    def failed(self) -> Iterator[Run]:
        """Yield the runs that failed."""
        if (self.state == FAILED).any():
            runs = self._results.experiment.all_runs()
            states = self.state[self.places(runs)]
            yield from (run for run, state in zip(runs, states.tolist(), strict=True) if state == FAILED)

    def metric(self, key: MetricKey) -> NDArray[np.float64]:
        """Return a metric of all runs."""
        if key not in self._columns:
            level, number, name = key
            found = np.full(self.count, np.nan)
            for owners, positions, table in self._tables(_TABLES[level], name):
                wanted = positions == number if level != "network" else slice(None)
                found[owners[wanted]] = table.numbers(name)[wanted] if table.has(name) else np.nan
            self._columns[key] = found
        return self._columns[key]

    @cached_property
    def keys(self) -> list[MetricKey]:
        """The metrics that runs have."""
        found: dict[MetricKey, None] = {}
        for level, name in _TABLES.items():
            most = self._most(name)
            for batch in self._batches:
                for column in self._results.numbers.metrics(batch, name):
                    if column not in _IDENTITY and not is_label(level, column):
                        numbers = [0] if level == "network" else range(1, most + 1)
                        found |= dict.fromkeys((level, number, column) for number in numbers)
        return list(found)

    def _tables(self, name: str, column: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NumberTable]]:
        """Yield, for each batch, what `_places` has of it, and the table with one column."""
        for batch, (owners, positions) in zip(self._batches, self._places(name), strict=True):
            yield owners, positions, self._results.numbers.table(batch, name, (column,))

    def _places(self, table: str) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return, for each batch, the run of each row of a table, and which of the run's rows the row is, from 1.

        Raises:
            UserError: the experiment has no such run as a row says.
        """
        if table not in self._owners:
            self._owners[table] = [self._places_of(batch, table) for batch in self._batches]
        return self._owners[table]

    def _places_of(self, batch: int, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        table = self._results.numbers.table(batch, name, ("path", _OWNER[name], "run"))
        paths = _known(table, "path", self._path_places)
        schemes = _known(table, _OWNER[name], self._scheme_places)
        owners = self._place(table.integers("run"), paths, schemes)
        if len(owners) and (min(paths.min(), schemes.min(), owners.min()) < 0 or owners.max() >= self.count):
            raise UserError(f"{self._results.numbers.folder / str(batch)}: has runs that are none of this experiment")
        begins = np.r_[True, owners[1:] != owners[:-1]] if len(owners) else np.zeros(0, dtype=bool)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(owners)), 0))
        return owners, np.arange(len(owners)) - first + 1


def _is_text(table: NumberTable, name: str, text: str) -> NDArray[np.bool_]:
    """Return in which rows a column has a text."""
    found: NDArray[np.bool_] = np.array([each == text for each in table.texts(name)] or [False])[table.codes(name)]
    return found


def _known(table: NumberTable, name: str, places: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the places of the texts of a column; -1 for a text that has none."""
    codes = np.array([places.get(text, -1) for text in table.texts(name)] or [-1], dtype=np.int64)
    found: NDArray[np.int64] = codes[table.codes(name)]
    return found


class NumberedRepetitions(Repetitions):
    """All runs of one scheme on one path, each of one flow, their metrics read when they are asked for.

    Of the tables of single runs, `flows` has those of the flows that start or stop first or last.
    """

    def __init__(self, columns: NumberColumns, place: int, judged: Repetitions) -> None:
        super().__init__(*columns.groups[place])
        self._judged = judged
        self._columns = columns
        self._part = slice(place, None, len(columns.groups))
        state = columns.state[self._part]
        self._is_good = state == DONE
        self.runs, self.good, self.missing = len(state), int(self._is_good.sum()), int((state == MISSING).sum())
        self.values = _Lazy(columns.keys, self._column)
        self.by_seed = _Lazy(columns.keys, self._with_seeds)
        self.flows = [[flow] for flow in self._ends()]

    @property
    def judged(self) -> Repetitions:
        """The first runs, with all that they have: enough to judge conduct by."""
        return self._judged

    def having(self, *names: str) -> set[tuple[str, int]]:
        """Return the entities that have one of these metrics; only their columns are read."""
        wanted = [key for key in self._columns.keys if key[2] in names]
        return {key[:2] for key in wanted if key in self.values}

    def _ends(self) -> Iterator[FlowStats]:
        starts, stops = (self._columns.metric(("flow", 1, name))[self._part] for name in ("start_s", "stop_s"))
        known = np.flatnonzero(self._is_good)
        for times in (starts, stops) if len(known) else ():
            for place in (known[times[known].argmin()], known[times[known].argmax()]):
                start_s, stop_s = float(starts[place]), float(stops[place])
                yield {"flow": 1, "scheme": self.scheme, "start_s": start_s, "stop_s": stop_s}

    def _good(self, key: MetricKey) -> tuple[list[float], list[int]]:
        """Return a metric of the good runs that have the metric, and their seeds."""
        found, seeds = (
            column[self._part][self._is_good] for column in (self._columns.metric(key), self._columns.seeds)
        )
        known = ~np.isnan(found)
        return found[known].tolist(), seeds[known].tolist()

    def _column(self, key: MetricKey) -> list[float]:
        return self._good(key)[0]

    def _with_seeds(self, key: MetricKey) -> dict[int | None, float]:
        values, seeds = self._good(key)
        return dict(zip(seeds, values, strict=True))


class _Lazy(Mapping[MetricKey, T]):
    """Values by metric, each read once, when somebody asks for it. A metric without values is not there."""

    def __init__(self, keys: Collection[MetricKey], read: Callable[[MetricKey], T]) -> None:
        self._keys, self._read = dict.fromkeys(keys), cache(read)

    def __getitem__(self, key: MetricKey) -> T:
        if key in self._keys and (found := self._read(key)):
            return found
        raise KeyError(key)

    def __iter__(self) -> Iterator[MetricKey]:
        return (key for key in self._keys if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def numbered_repetitions(
    columns: NumberColumns, judged: Mapping[tuple[str, str], Repetitions]
) -> dict[tuple[str, str], Repetitions]:
    """Return the runs gathered by path and scheme; `judged` are the first of them."""
    return {key: NumberedRepetitions(columns, place, judged[key]) for place, key in enumerate(columns.groups)}
