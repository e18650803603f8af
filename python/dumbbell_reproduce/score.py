"""Measured beside simulated: how far each metric of each flow is off, and how many runs are within tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from dumbbell_reproduce.measured_set import MeasuredRun
from dumbbell_reproduce.simulated import Simulated
from dumbbell_reproduce.viewpoint import DELAY, LOSS, MEASURES, RATE, Viewpoint

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.contract.statistics import RunStats

TOLERANCES = {RATE: 0.05, DELAY: 0.10}
"""Relative error up to which a metric counts as reproduced."""
LOSS_TOLERANCE = 0.01
"""The same of a loss rate, which is compared in absolute terms."""
TOGETHER_S = 0.3
"""How far apart flows start at most that start together."""
FAILED = 100.0
"""Surprise of a run that the simulator could not make."""


@dataclass(frozen=True)
class Compared:
    """One measure: measured, and the mean and the range of the simulated runs."""

    measured: float
    mean: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """Error of the mean, relative to what was measured."""
        return (self.mean - self.measured) / self.measured if self.measured else 0.0

    def as_json(self) -> dict[str, float]:
        """For programs."""
        return {
            "measured": self.measured,
            "simulated": self.mean,
            "low": self.low,
            "high": self.high,
            "relative_error": self.relative,
        }


Comparison: TypeAlias = "dict[str, Compared | None]"
"""Each measure of a measured run, or of one of its flows, beside the simulated runs."""


@dataclass(frozen=True)
class Cause:
    """Why a measured run is not as the simulated ones.

    Attributes:
        excludes: True if the run is no run of what it is called.
        shown: The comparison where that one thing is changed; None of what no experiment shows.
    """

    kind: str
    text: str
    excludes: bool = False
    shown: Comparison | None = None


@dataclass(frozen=True)
class Row:
    """One flow of one measured run, or all of its flows together (`flow` 0), beside the simulated runs."""

    run: MeasuredRun
    flow: int
    path: str
    exact: Comparison
    """Between exact hosts."""
    host: Comparison | None = None
    """Between the hosts that fit other runs best; None where exact hosts do."""
    causes: tuple[Cause, ...] = ()
    simulated: Entry | None = None
    """Folder of the first simulated run."""

    @property
    def counts(self) -> bool:
        """Whether it counts in the score."""
        return not any(cause.excludes for cause in self.causes)

    @property
    def compared(self) -> Comparison:
        """With the host profile where there is one."""
        return self.host or self.exact

    @property
    def surprise(self) -> float:
        """The largest error in tolerances."""
        return surprise(self.compared)

    @property
    def label(self) -> str:
        """For people."""
        return self.run.label if self.flow == 0 else f"{self.run.label}, flow {self.flow}"

    def as_json(self) -> dict[str, object]:
        """For programs."""
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
            "causes": [self._cause(each) for each in self.causes],
        } | {side: None if of is None else self._side(of) for side, of in sides.items()}

    def _cause(self, cause: Cause) -> dict[str, object]:
        shown = None if cause.shown is None else self._side(cause.shown)
        return {"kind": cause.kind, "text": cause.text, "excludes": cause.excludes, "with_it": shown}

    def _side(self, of: Comparison) -> dict[str, object]:
        names = self.run.view.metrics
        return {name: None if (each := of[measure]) is None else each.as_json() for measure, name in names.items()}


def is_off(compared: Comparison) -> bool:
    """Return True if throughput or delay is outside of its tolerance."""
    return any(abs(each.relative) > TOLERANCES[name] for name in TOLERANCES if (each := compared[name]) is not None)


def surprise(compared: Comparison) -> float:
    """Return the largest error in tolerances; `FAILED` where nothing was simulated."""
    loss = compared[LOSS]
    found = [] if loss is None else [abs(loss.mean - loss.measured) / LOSS_TOLERANCE]
    return max([*errors(compared), *found], default=FAILED)


def errors(compared: Comparison) -> list[float]:
    """Return the errors of throughput and delay in tolerances."""
    return [abs(each.relative) / TOLERANCES[name] for name in TOLERANCES if (each := compared[name]) is not None]


def likelihood(compared: Comparison) -> float:
    """Return the log-likelihood of a measured run: each ratio is Cauchy's, with the tolerance as scale."""
    known = [(each, TOLERANCES[name]) for name in TOLERANCES if (each := compared[name]) is not None]
    ratios = [(each.mean / each.measured, scale) for each, scale in known if min(each.mean, each.measured) > 0.0]
    return -sum(math.log1p((math.log(ratio) / scale) ** 2) for ratio, scale in ratios)


def compare(run: MeasuredRun, flow: int, beside: Simulated) -> Comparison:
    """Return each measure of a flow beside the simulated runs; None where either side does not tell it.

    Which of several flows that started together gets most is chance: the fastest stands beside the fastest.
    """
    found: Comparison = {}
    measured = run.metrics(flow)
    together = _together(run, flow)
    rank = _by_rate(run.view, run.statistics, together).index(flow)
    made = [run.view.of(statistics, _by_rate(run.view, statistics, together)[rank]) for statistics in beside.statistics]
    for name in MEASURES:
        value, values = measured[name], [each[name] for each in made]
        known = [each for each in values if each is not None]
        found[name] = (
            None if value is None or not known else Compared(value, sum(known) / len(known), min(known), max(known))
        )
    return found


def _together(run: MeasuredRun, flow: int) -> list[int]:
    """The flows of a run that started together with one, itself among them; it alone where no log says when."""
    flows = run.statistics["flows"]
    starts = {int(each["flow"]): start for each in flows if (start := each.get("start_s")) is not None}
    if flow not in starts:
        return [flow]
    return [number for number, start in starts.items() if abs(start - starts[flow]) <= TOGETHER_S]


def _by_rate(view: Viewpoint, statistics: RunStats, flows: Sequence[int]) -> list[int]:
    """These flows, the fastest first."""
    return sorted(flows, key=lambda number: -(view.of(statistics, number)[RATE] or 0.0))


@dataclass(frozen=True)
class Score:
    """How many rows are within tolerance, and the median errors."""

    rows: int
    throughput: int
    delay: int
    both: int
    delays: int
    """Rows with a delay above zero that both sides tell."""
    median_throughput: float | None
    median_delay: float | None

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "rows": self.rows,
            "throughput_within_5_percent": self.throughput,
            "rows_with_delay": self.delays,
            "delay_p95_within_10_percent": self.delay,
            "both": self.both,
            "median_error_throughput": self.median_throughput,
            "median_error_delay_p95": self.median_delay,
        }


def score(compared: Iterable[Comparison]) -> Score:
    """Return the score of rows."""
    rows = list(compared)
    errors = {
        name: [abs(each.relative) if (each := row[name]) is not None and each.measured > 0.0 else None for row in rows]
        for name in TOLERANCES
    }
    good = {name: [error is not None and error <= TOLERANCES[name] for error in errors[name]] for name in TOLERANCES}
    known = {name: [error for error in errors[name] if error is not None] for name in TOLERANCES}
    has_delay = [error is not None for error in errors[DELAY]]
    both = [rate and (delay or not told) for rate, delay, told in zip(*good.values(), has_delay, strict=True)]
    return Score(
        rows=len(rows),
        throughput=sum(good[RATE]),
        delay=sum(good[DELAY]),
        both=sum(both),
        delays=sum(has_delay),
        median_throughput=_median(known[RATE]),
        median_delay=_median(known[DELAY]),
    )


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None
