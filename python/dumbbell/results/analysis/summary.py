"""Means over the repetitions of a run, and how far the runs are apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.results.clocks import LEGEND, Clocks, Interval, clocks_of, clocks_text, mean_shift
from dumbbell.results.numbers import fraction_metrics, numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import FlowStats, LinkStats, NetworkStats

LEVEL = 0.95

MetricKey = tuple[str, int, str]
"""Entity (`network`, `flow`, `link`), its number, the metric's name."""


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over runs, and where it lies: `low` to `high` are what `bounds` says.

    `confidence` is the interval of the mean by Student's t, nominally of 95 % (`docs/evidence/intervals.md`). Of fewer
    than five runs none holds (`docs/reference/metrics.md`): `low` and `high` are the least and the largest run then, a
    `range`. Of several runs with one and the same value that is `equal`. A single run has neither. `clocks` is where
    the true mean of one-way delays lies that were measured with two clocks.
    """

    count: int
    mean: float
    low: float | None = None
    high: float | None = None
    bounds: str | None = None
    clocks: Interval | None = None

    @classmethod
    def of(
        cls, values: list[float] | NDArray[np.float64], shifts: Sequence[Interval] = (), fraction: bool = False
    ) -> Estimate:
        """The estimate from the values of the runs; `shifts` are how much more of those with two clocks may be true.

        The interval of fractions of a whole does not reach beyond the whole.
        """
        mean, low, high = core.mean_and_ends(values) or (math.nan,) * 3
        count = len(values)
        shift = mean_shift(shifts, count)
        clocks = None if shift is None else (mean + shift[0], mean + shift[1])
        if count < 2:
            return cls(count, mean, clocks=clocks)
        if low == high:
            return cls(count, low, low, high, "equal", clocks)
        interval = core.confidence_interval(values, LEVEL, fraction)
        if interval is None:
            return cls(count, mean, low, high, "range", clocks)
        return cls(count, mean, *interval, "confidence", clocks)

    def bounds_text(self, number: Callable[[float], str]) -> str:
        """`[low, high]` of an interval, `(low to high)` of a range, `(equal)`; nothing of a single run.

        Behind it, what the clocks leave open: `clocks low to high`.
        """
        return " ".join(self.bounds_lines(number))

    def bounds_lines(self, number: Callable[[float], str]) -> list[str]:
        """The same in up to two lines."""
        return [line for line in (self._scatter_text(number), clocks_text(self.clocks, number)) if line]

    def _scatter_text(self, number: Callable[[float], str]) -> str:
        if self.low is None or self.high is None:
            return ""
        if self.bounds == "equal":
            return "(equal)"
        low, high = number(self.low), number(self.high)
        return f"[{low}, {high}]" if self.bounds == "confidence" else f"({low} to {high})"


def bounds_legend(runs: int, clocks: bool = False) -> str:
    """What stands behind means over so many runs, as sentences; nothing if that is nothing.

    With `clocks`, some are of one-way delays that were measured with two clocks.
    """
    behind = LEGEND if clocks else ""
    if runs < 2:
        return behind
    few = core.confidence_interval([float(value) for value in range(runs)], LEVEL) is None
    meaning = (
        f"In parentheses: the range of the {runs} runs; of so few no confidence interval holds."
        if few
        else "In brackets: the interval of the mean by Student's t, nominally of 95 %: it cannot know what none of the"
        " runs showed."
    )
    return f"{meaning} Equal: all runs have this value. {behind}".strip()


@dataclass
class Repetitions:
    """All runs of one scheme (or mix) on one path."""

    path: str
    scheme: str
    runs: int = 0
    good: int = 0
    missing: int = 0
    """Of the runs, those that have not been made yet."""

    def __post_init__(self) -> None:
        self._values: dict[MetricKey, list[float]] = {}
        self._by_seed: dict[MetricKey, dict[int | None, float]] = {}
        self.values: Mapping[MetricKey, list[float]] = self._values
        self.by_seed: Mapping[MetricKey, dict[int | None, float]] = self._by_seed
        """The same by the seeds of the runs; imported runs have none."""
        self.flows: list[Sequence[FlowStats]] = []
        """The flows of each good run."""
        self.links: list[Sequence[LinkStats]] = []
        """The links of each good run."""
        self.networks: list[NetworkStats] = []
        """What each good run has of all its flows together."""
        self.clocks: list[Clocks | None] = []
        """The clocks of each good run."""
        self.shifts: dict[MetricKey, list[Interval]] = {}
        """How much more than stated a one-way delay may be in each of the runs with two clocks."""

    @property
    def judged(self) -> Repetitions:
        """The runs by which conduct is judged: all of them."""
        return self

    @property
    def identical(self) -> bool:
        """Whether there are several good runs and no metric of theirs differs: repetitions of nothing."""
        each = self.values.values()
        return self.good > 1 and all(len(found) == self.good and min(found) == max(found) for found in each)

    @property
    def runs_text(self) -> str:
        """How many runs are good, of how many, and whether they are identical."""
        count = str(self.good) if self.good == self.runs else f"{self.good} of {self.runs}"
        return f"{count}, identical" if self.identical else count

    def having(self, *names: str) -> set[tuple[str, int]]:
        """Return the entities, each with its number, that have one of these metrics in some run."""
        return {(entity, number) for entity, number, name in self.values if name in names}

    def estimate(self, key: MetricKey) -> Estimate | None:
        """Mean and interval of one metric, if any run has it."""
        values = self.values.get(key)
        fraction = (key[0], key[2]) in fraction_metrics()
        return Estimate.of(values, self.shifts.get(key, ()), fraction) if values else None

    def mean(self, key: MetricKey) -> float | None:
        """Return the mean of one metric without its interval, which takes long to compute; None if no run has it."""
        found = core.mean_and_ends(self.values.get(key, []))
        return None if found is None else found[0]

    def add(self, run: RunTable) -> None:
        """Counts a run, given as in `show --json`, and takes its numbers if it is good."""
        self.runs += 1
        self.missing += run["status"] == "missing"
        if run["status"] != "done":
            return
        self.good += 1
        self.flows.append(run["flows"])
        self.links.append(run["links"])
        self.networks.append(run["network"])
        clocks = clocks_of(run)
        self.clocks.append(clocks)
        for entity, number, name, value in numbers(run):
            if clocks is not None and (shift := clocks.shift(entity, number, name)) is not None:
                self.shifts.setdefault((entity, number, name), []).append(shift)
            self.put((entity, number, name), run["seed"], value)

    def put(self, key: MetricKey, seed: int | None, value: float) -> None:
        """Add a metric of a good run."""
        if key not in self._values:
            self._values[key], self._by_seed[key] = [], {}
        self._values[key].append(value)
        self._by_seed[key][seed] = value


def repetitions(runs: Iterable[RunTable]) -> dict[tuple[str, str], Repetitions]:
    """The runs, given as in `show --json`, gathered by path and scheme."""
    gathered: dict[tuple[str, str], Repetitions] = {}
    for run in runs:
        key = (run["path"], run["scheme"])
        gathered.setdefault(key, Repetitions(*key)).add(run)
    return gathered
