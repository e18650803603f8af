"""Means over the repetitions of a run, and the scatter of the runs."""

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
"""Entity (`network`, `flow`, `link`), its number, and the name of the metric."""


@dataclass(frozen=True)
class Estimate:
    """Mean of a metric over runs, with its bounds: `bounds` is the meaning of `low` and `high`.

    - `confidence`: the interval of the mean by Student's t, nominally of 95 % (`docs/evidence/intervals.md`).
    - `range`: the least and the largest run. Fewer than five runs have no valid interval (`docs/reference/metrics.md`).
    - `equal`: several runs have one value.
    - None: a single run has no bounds.

    `clocks` contains the true mean of one-way delays between two clocks.
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
        """Return the estimate from the values of the runs; `shifts` are the possible clock errors of one-way delays.

        The interval of fractions of a whole stays within the whole.
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
        """Return `[low, high]` of an interval, `(low to high)` of a range, `(equal)`; empty for a single run.

        The interval of the clocks follows: `clocks low to high`.
        """
        return " ".join(self.bounds_lines(number))

    def bounds_lines(self, number: Callable[[float], str]) -> list[str]:
        """Return the bounds in up to two lines."""
        return [line for line in (self._scatter_text(number), clocks_text(self.clocks, number)) if line]

    def _scatter_text(self, number: Callable[[float], str]) -> str:
        if self.low is None or self.high is None:
            return ""
        if self.bounds == "equal":
            return "(equal)"
        low, high = number(self.low), number(self.high)
        return f"[{low}, {high}]" if self.bounds == "confidence" else f"({low} to {high})"


def bounds_legend(runs: int, clocks: bool = False) -> str:
    """Return sentences on the bounds of means over `runs` runs; empty if there are none.

    With `clocks`, some means are of one-way delays between two clocks.
    """
    behind = LEGEND if clocks else ""
    if runs < 2:
        return behind
    is_few = core.confidence_interval([float(value) for value in range(runs)], LEVEL) is None
    meaning = (
        f"In parentheses: the range of the {runs} runs; of so few no confidence interval holds."
        if is_few
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
    """Number of runs that have not been made yet."""

    def __post_init__(self) -> None:
        self._values: dict[MetricKey, list[float]] = {}
        self._by_seed: dict[MetricKey, dict[int | None, float]] = {}
        self.values: Mapping[MetricKey, list[float]] = self._values
        self.by_seed: Mapping[MetricKey, dict[int | None, float]] = self._by_seed
        """Values by the seeds of the runs; imported runs have none."""
        self.flows: list[Sequence[FlowStats]] = []
        """Flows of each good run."""
        self.links: list[Sequence[LinkStats]] = []
        """Links of each good run."""
        self.networks: list[NetworkStats] = []
        """Metrics over all flows of each good run."""
        self.clocks: list[Clocks | None] = []
        """Clocks of each good run."""
        self.shifts: dict[MetricKey, list[Interval]] = {}
        """Interval of the clock error of a one-way delay, in each of the runs with two clocks."""

    @property
    def judged(self) -> Repetitions:
        """Runs by which conduct is judged; here all runs."""
        return self

    @property
    def identical(self) -> bool:
        """True if there are several good runs and no metric differs: the repetitions repeat nothing."""
        columns = self.values.values()
        return self.good > 1 and all(len(column) == self.good and min(column) == max(column) for column in columns)

    @property
    def runs_text(self) -> str:
        """Number of good runs, with the total if others exist, and a mark of identical runs."""
        count = str(self.good) if self.good == self.runs else f"{self.good} of {self.runs}"
        return f"{count}, identical" if self.identical else count

    def having(self, *names: str) -> set[tuple[str, int]]:
        """Return the entities, each with its number, that have one of these metrics in some run."""
        return {(entity, number) for entity, number, name in self.values if name in names}

    def estimate(self, key: MetricKey) -> Estimate | None:
        """Return mean and interval of one metric; None if no run has it."""
        values = self.values.get(key)
        fraction = (key[0], key[2]) in fraction_metrics()
        return Estimate.of(values, self.shifts.get(key, ()), fraction) if values else None

    def mean(self, key: MetricKey) -> float | None:
        """Return the mean of one metric without its interval, which takes long to compute; None if no run has it."""
        mean_and_ends = core.mean_and_ends(self.values.get(key, []))
        return None if mean_and_ends is None else mean_and_ends[0]

    def add(self, run: RunTable) -> None:
        """Count a run, given as in `show --json`, and add its numbers if it is good."""
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
    """Return the runs, given as in `show --json`, by path and scheme."""
    groups: dict[tuple[str, str], Repetitions] = {}
    for run in runs:
        key = (run["path"], run["scheme"])
        groups.setdefault(key, Repetitions(*key)).add(run)
    return groups
