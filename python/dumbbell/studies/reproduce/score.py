"""Measured beside simulated: how far each metric of each flow is off, and how many runs are within tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from dumbbell.studies.reproduce.measured import MeasuredRun
from dumbbell.studies.reproduce.simulated import Simulated
from dumbbell.studies.reproduce.view import DELAY, LOSS, MEASURES, RATE, View

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


@dataclass(frozen=True)
class Cause:
    """Why a measured run is not as the simulated ones. `excludes`: it is no run of what it is called."""

    kind: str
    text: str
    excludes: bool = False


@dataclass(frozen=True)
class Row:
    """One flow of one measured run, or all of its flows together (`flow` 0), beside the simulated runs."""

    run: MeasuredRun
    flow: int
    path: str
    exact: dict[str, Compared | None]
    """Between exact hosts."""
    host: dict[str, Compared | None] | None = None
    """Between hosts as other runs tell them; None where none does."""
    causes: tuple[Cause, ...] = ()
    simulated: Entry | None = None
    """Folder of the first simulated run."""

    @property
    def counts(self) -> bool:
        """Whether it counts in the score."""
        return not any(cause.excludes for cause in self.causes)

    @property
    def compared(self) -> dict[str, Compared | None]:
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
            "causes": [{"kind": each.kind, "text": each.text, "excludes": each.excludes} for each in self.causes],
        } | {side: None if of is None else self._side(of) for side, of in sides.items()}

    def _side(self, of: dict[str, Compared | None]) -> dict[str, object]:
        names = self.run.view.metrics
        return {name: None if (each := of[measure]) is None else each.as_json() for measure, name in names.items()}


def is_off(compared: dict[str, Compared | None]) -> bool:
    """Return True if throughput or delay is outside of its tolerance."""
    return any(abs(each.relative) > TOLERANCES[name] for name in TOLERANCES if (each := compared[name]) is not None)


def surprise(compared: dict[str, Compared | None]) -> float:
    """Return the largest error in tolerances; `FAILED` where nothing was simulated."""
    found = [abs(each.relative) / TOLERANCES[name] for name in TOLERANCES if (each := compared[name]) is not None]
    loss = compared[LOSS]
    found += [] if loss is None else [abs(loss.mean - loss.measured) / LOSS_TOLERANCE]
    return max(found, default=FAILED)


def compare(run: MeasuredRun, flow: int, beside: Simulated) -> dict[str, Compared | None]:
    """Return each measure of a flow beside the simulated runs; None where either side does not tell it.

    Which of several flows that started together gets most is chance: the fastest stands beside the fastest.
    """
    found: dict[str, Compared | None] = {}
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
    starts = {int(each["flow"]): float(each["start_s"]) for each in flows if each.get("start_s") is not None}
    if flow not in starts:
        return [flow]
    return [number for number, start in starts.items() if abs(start - starts[flow]) <= TOGETHER_S]


def _by_rate(view: View, statistics: RunStats, flows: Sequence[int]) -> list[int]:
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


def score(compared: Iterable[dict[str, Compared | None]]) -> Score:
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
