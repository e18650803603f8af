"""Comparison of measured and simulated runs: the error of each metric and flow, and the score of all rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from dumbbell_reproduce.measured_set import MeasuredRun
from dumbbell_reproduce.simulated import SimulatedRuns
from dumbbell_reproduce.viewpoint import DELAY, LOSS, MEASURES, RATE, Viewpoint

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.contract.statistics import RunStats

TOLERANCES = {RATE: 0.05, DELAY: 0.10}
"""Relative error up to which a metric counts as reproduced."""
LOSS_TOLERANCE = 0.01
"""Absolute error up to which a loss rate counts as reproduced."""
TOGETHER_S = 0.3
"""Largest difference of the start times of flows that count as started together, s."""
FAILED = 100.0
"""Surprise of a run that could not be simulated."""


@dataclass(frozen=True)
class MeasureComparison:
    """One measure: the measured value, and the mean and range of the simulated values."""

    measured_value: float
    mean: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """Error of the mean, relative to the measured value."""
        return (self.mean - self.measured_value) / self.measured_value if self.measured_value else 0.0

    def as_json(self) -> dict[str, float]:
        """Return the comparison as JSON values."""
        return {
            "measured": self.measured_value,
            "simulated": self.mean,
            "low": self.low,
            "high": self.high,
            "relative_error": self.relative,
        }


Comparison: TypeAlias = "dict[str, MeasureComparison | None]"
"""Comparison of each measure of a measured run, or of one of its flows. None marks missing measures."""


@dataclass(frozen=True)
class Cause:
    """A likely reason for a difference between a measured run and its simulated runs.

    Attributes:
        excludes: True if another scheme, the host or a silent program made the result, and the run must not count.
        shown: Comparison with one thing changed; None if no experiment shows the cause.
    """

    kind: str
    text: str
    excludes: bool = False
    comparison: Comparison | None = None


@dataclass(frozen=True)
class Row:
    """One flow of a measured run, or all its flows together (`flow` 0), with the simulated runs."""

    run: MeasuredRun
    flow: int
    path: str
    exact: Comparison
    """Comparison with exact hosts."""
    host: Comparison | None = None
    """Comparison with the hosts that fit other runs best; None if exact hosts fit best."""
    causes: tuple[Cause, ...] = ()
    simulated_folder: Entry | None = None
    """Folder of the first simulated run."""

    @property
    def counts(self) -> bool:
        """True if the row counts in the score."""
        return not any(cause.excludes for cause in self.causes)

    @property
    def comparison(self) -> Comparison:
        """Comparison with the host profile if there is one, else with exact hosts."""
        return self.host or self.exact

    @property
    def surprise(self) -> float:
        """Largest error, in tolerances."""
        return surprise(self.comparison)

    @property
    def label(self) -> str:
        """Name of the row for people."""
        return self.run.label if self.flow == 0 else f"{self.run.label}, flow {self.flow}"

    def as_json(self) -> dict[str, object]:
        """Return the row as JSON values."""
        sides = {"exact": self.exact, "host": self.host}
        return {
            "set": self.run.place,
            "scheme": self.run.name,
            "simulated_by": self.run.scheme.name,
            "run": self.run.number,
            "flow": self.flow,
            "path": self.path,
            "surprise": self.surprise,
            "counts": self.counts,
            "causes": [self._cause(cause) for cause in self.causes],
        } | {side: None if comparison is None else self._side(comparison) for side, comparison in sides.items()}

    def _cause(self, cause: Cause) -> dict[str, object]:
        with_change = None if cause.comparison is None else self._side(cause.comparison)
        return {"kind": cause.kind, "text": cause.text, "excludes": cause.excludes, "with_it": with_change}

    def _side(self, comparison: Comparison) -> dict[str, object]:
        names = self.run.view.metrics
        return {
            name: None if (measure_comparison := comparison[measure]) is None else measure_comparison.as_json()
            for measure, name in names.items()
        }


def is_off(comparison: Comparison) -> bool:
    """Return True if throughput or delay is outside of its tolerance."""
    return any(
        abs(measure.relative) > TOLERANCES[name] for name in TOLERANCES if (measure := comparison[name]) is not None
    )


def surprise(comparison: Comparison) -> float:
    """Return the largest error, in tolerances; `FAILED` if nothing was simulated."""
    loss = comparison[LOSS]
    loss_errors = [] if loss is None else [abs(loss.mean - loss.measured_value) / LOSS_TOLERANCE]
    return max([*errors(comparison), *loss_errors], default=FAILED)


def errors(comparison: Comparison) -> list[float]:
    """Return the errors of throughput and delay in tolerances."""
    return [
        abs(measure.relative) / TOLERANCES[name] for name in TOLERANCES if (measure := comparison[name]) is not None
    ]


def likelihood(comparison: Comparison) -> float:
    """Return the log-likelihood of a measured run.

    The ratio of each metric has a Cauchy distribution, scaled by its tolerance.
    """
    measures = [(measure, TOLERANCES[name]) for name in TOLERANCES if (measure := comparison[name]) is not None]
    ratios = [
        (measure.mean / measure.measured_value, scale)
        for measure, scale in measures
        if min(measure.mean, measure.measured_value) > 0.0
    ]
    return -sum(math.log1p((math.log(ratio) / scale) ** 2) for ratio, scale in ratios)


def compare(run: MeasuredRun, flow: int, simulated_runs: SimulatedRuns) -> Comparison:
    """Return the comparison of a flow with the simulated runs. A measure is None if either side lacks it.

    Chance decides which of several flows that started together is fastest, so flows are matched by their rank.
    """
    comparison: Comparison = {}
    measured_values = run.metrics(flow)
    together = _together(run, flow)
    rank = _by_rate(run.view, run.statistics, together).index(flow)
    simulated_values = [
        run.view.of(statistics, _by_rate(run.view, statistics, together)[rank])
        for statistics in simulated_runs.statistics
    ]
    for name in MEASURES:
        value, values = measured_values[name], [run_values[name] for run_values in simulated_values]
        known_values = [value_or_none for value_or_none in values if value_or_none is not None]
        comparison[name] = (
            None
            if value is None or not known_values
            else MeasureComparison(value, sum(known_values) / len(known_values), min(known_values), max(known_values))
        )
    return comparison


def _together(run: MeasuredRun, flow: int) -> list[int]:
    """Return the flows that started together with `flow`, itself included; only `flow` without start times."""
    flows = run.statistics["flows"]
    starts = {
        int(flow_table["flow"]): start for flow_table in flows if (start := flow_table.get("start_s")) is not None
    }
    if flow not in starts:
        return [flow]
    return [number for number, start in starts.items() if abs(start - starts[flow]) <= TOGETHER_S]


def _by_rate(view: Viewpoint, statistics: RunStats, flows: Sequence[int]) -> list[int]:
    """Return the flows, the fastest first."""
    return sorted(flows, key=lambda number: -(view.of(statistics, number)[RATE] or 0.0))


@dataclass(frozen=True)
class Score:
    """Number of rows within tolerance, and median errors."""

    rows: int
    throughput: int
    delay: int
    within_both: int
    delays: int
    """Number of rows with a delay above zero on both sides."""
    median_throughput: float | None
    median_delay: float | None

    def as_json(self) -> dict[str, object]:
        """Return the score as JSON values."""
        return {
            "rows": self.rows,
            "throughput_within_5_percent": self.throughput,
            "rows_with_delay": self.delays,
            "delay_p95_within_10_percent": self.delay,
            "both": self.within_both,
            "median_error_throughput": self.median_throughput,
            "median_error_delay_p95": self.median_delay,
        }


def score(comparisons: Iterable[Comparison]) -> Score:
    """Return the score of some rows."""
    rows = list(comparisons)
    errors = {
        name: [
            abs(measure.relative) if (measure := row[name]) is not None and measure.measured_value > 0.0 else None
            for row in rows
        ]
        for name in TOLERANCES
    }
    good = {name: [error is not None and error <= TOLERANCES[name] for error in errors[name]] for name in TOLERANCES}
    known_errors = {name: [error for error in errors[name] if error is not None] for name in TOLERANCES}
    has_delay = [error is not None for error in errors[DELAY]]
    within_both = [
        rate and (delay or not row_has_delay)
        for rate, delay, row_has_delay in zip(*good.values(), has_delay, strict=True)
    ]
    return Score(
        rows=len(rows),
        throughput=sum(good[RATE]),
        delay=sum(good[DELAY]),
        within_both=sum(within_both),
        delays=sum(has_delay),
        median_throughput=_median(known_errors[RATE]),
        median_delay=_median(known_errors[DELAY]),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
