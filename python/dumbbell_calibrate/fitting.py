"""The fit of one path model to the measured points of some schemes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_calibrate.error import (
    Array,
    Outcomes,
    PointError,
    chances,
    emulated_values,
    errors,
    measured_values,
    replication_error,
    search_objective,
)
from dumbbell_calibrate.journal import Candidate
from dumbbell_calibrate.objective import JUDGED_RUNS, Objective, judged
from dumbbell_calibrate.path_models import Hints, Knob, Model, host_settings
from dumbbell_calibrate.search import Effort, Vector, derived_seed, minimise
from dumbbell_calibrate.smoothing import Surface, surface
from dumbbell_calibrate.target import Target

REFINED = 40
"""Evaluations of a search around the best place of a smooth surface through the other evaluations."""
_ROUNDS, _ON_SURFACE = 4, 800
"""Number of surfaces in a search, and evaluations of the search on one surface."""
_GOOD = 1 / 3
"""Share of the best trials to which a place from the surface must belong, or it is discarded."""


@dataclass(frozen=True)
class Trial:
    """A tried path: the place of its knobs, the outcomes of schemes, and the search objective."""

    place: Vector
    candidate: Candidate
    outcomes: Outcomes
    value: float = 0.0


@dataclass
class Fit:
    """A model fitted to some schemes."""

    model: Model
    knobs: list[Knob]
    schemes: tuple[str, ...]
    best: Trial
    error: float
    """Pantheon's error over these schemes: in-sample."""
    trials: list[Trial]
    numbers: int = 0
    """Count of measured numbers to which the parameters were fitted."""

    @property
    def values(self) -> dict[str, float]:
        """Fitted values of the parameters, by name."""
        return values_at(self.knobs, self.best.place)


class Watcher(Protocol):
    """Receiver of the progress of searches."""

    def begin(self, name: str) -> None:
        """Begin the next search."""

    def tell(self, count: int, error: float) -> None:
        """Report the number of tried paths, and the error of the best one."""

    def end(self) -> None:
        """End the search, which has finished or was skipped."""


class _Search:
    """The search for the best path of one model, over chosen schemes."""

    def __init__(self, fitter: "Fitter", model: Model, schemes: Sequence[str]) -> None:
        self._objective, self._watcher, self._model, self._schemes = fitter.objective, fitter.watcher, model, schemes
        self.points = fitter.target.of(schemes)
        self.knobs = model.at(Hints.of(self.points))
        self.seed = derived_seed(fitter.seed, model.name, *schemes)
        self.trials: list[Trial] = []
        self._wanted = measured_values(self.points)
        self._chance = chances(self.points, fitter.target.experiment.runs) if fitter.is_weighted else None

    def evaluate(self, places: Sequence[Vector]) -> list[float]:
        """Simulate the paths at some places, and return the search objective of each."""
        paths = [candidate_of(self._model, values_at(self.knobs, place)) for place in places]
        outcomes = self._objective.outcomes(paths, self._schemes)
        values = self._values(emulated_values(self.points, outcomes))
        self.trials += map(Trial, map(list, places), paths, outcomes, values)
        return values

    def at(self, place: Vector) -> Trial:
        """Return the trial at a place."""
        return next(trial for trial in self.trials if trial.place == place)

    @property
    def numbers(self) -> int:
        """Count of measured numbers in the fit: throughputs and delays, and losses if they are weighted."""
        return int((~numpy.isnan(self._wanted[:, : 2 if self._chance is None else None])).sum())

    def tell(self, count: int, best: Vector) -> None:
        """Report the progress of the search."""
        self._watcher.tell(count, self.error(self.at(best)))

    def error(self, trial: Trial) -> float:
        """Return Pantheon's error of a trial."""
        return replication_error(errors(self.points, trial.outcomes))

    def refined(self, place: Vector) -> Vector:
        """Return the best place after trials around the minimum of smooth surfaces through all trials."""
        rng = numpy.random.default_rng(self.seed)
        best = place
        for number in range(_ROUNDS):
            outcomes = emulated_values(self.points, [trial.outcomes for trial in self.trials])
            smooth = surface([trial.place for trial in self.trials], outcomes, [trial.value for trial in self.trials])
            if smooth is None:
                break
            best = self._best_of(smooth, self.seed + number)
            around = best + 0.5 * smooth.spread * rng.standard_normal((REFINED // _ROUNDS - 1, len(best)))
            self.evaluate([best, *around.clip(0.0, 1.0).tolist()])
        is_confirmed = self.at(best).value <= float(numpy.quantile([trial.value for trial in self.trials], _GOOD))
        return best if is_confirmed else place

    def _best_of(self, smooth: Surface, seed: int) -> Vector:
        def predicted(places: Sequence[Vector]) -> list[float]:
            return self._values(smooth.at([smooth.inside(place) for place in places]))

        start, widths = smooth.inside(smooth.middle.tolist()), smooth.spread.tolist()
        return smooth.inside(minimise(predicted, start, widths, Effort(_ON_SURFACE), seed))

    def _values(self, simulated_values: Array) -> list[float]:
        return [float(value) for value in search_objective(simulated_values, self._wanted, self._chance)]


@dataclass
class Fitter:
    """Fits models to schemes of a target."""

    target: Target
    objective: Objective
    evaluations: int
    is_weighted: bool
    """True if schemes whose runs differ less count more."""
    seed: int
    until: float | None
    searches_left: int
    watcher: Watcher
    clock: Clock = SYSTEM_CLOCK

    def fit(self, model: Model, schemes: Sequence[str], before: Fit | None, name: str) -> Fit:
        """Return the best path of a model for some schemes. The search continues from the fit `before`."""
        self.watcher.begin(name)
        search = _Search(self, model, schemes)
        refines = self.is_weighted and self.evaluations > REFINED
        effort = Effort(self.evaluations - REFINED if refines else self.evaluations, self._deadline(), self.clock)
        widths = [knob.width for knob in search.knobs]
        place = minimise(search.evaluate, _start(search.knobs, before), widths, effort, search.seed, search.tell)
        if refines and not effort.over:
            place = search.refined(place)
            search.tell(len(search.trials), place)
        best = search.at(place)
        self.watcher.end()
        self.searches_left -= 1
        return Fit(model, search.knobs, tuple(schemes), best, search.error(best), search.trials, search.numbers)

    def predict(self, candidate: Candidate, schemes: Sequence[str]) -> dict[tuple[str, int], PointError]:
        """Return the errors of the points of some schemes in runs with fresh seeds."""
        points = self.target.of(schemes)
        return dict(zip((point.key for point in points), errors(points, self._judged(candidate, schemes)), strict=True))

    def unlikelihood(self, candidate: Candidate) -> float:
        """Return the search objective over the fitted schemes, in runs with fresh seeds."""
        points = self.target.points
        chance = chances(points, JUDGED_RUNS) if self.is_weighted else None
        fresh_values = emulated_values(points, [self._judged(candidate, self.target.schemes)])
        return float(search_objective(fresh_values, measured_values(points), chance)[0])

    def _judged(self, candidate: Candidate, schemes: Sequence[str]) -> Outcomes:
        return self.objective.outcomes([judged(candidate)], schemes)[0]

    def skip(self, name: str) -> None:
        """Skip a search that cannot win."""
        self.watcher.begin(name)
        self.watcher.end()
        self.searches_left -= 1

    def _deadline(self) -> float | None:
        """Return the time at which the next search must end: remaining searches share the remaining time."""
        if self.until is None:
            return None
        now = self.clock.monotonic()
        return now + max(self.until - now, 0.0) / max(self.searches_left, 1)


def values_at(knobs: Sequence[Knob], place: Vector) -> dict[str, float]:
    """Return the values of knobs at a place, by name."""
    return {knob.name: knob.value(u) for knob, u in zip(knobs, place, strict=True)}


def candidate_of(model: Model, values: dict[str, float]) -> Candidate:
    """Return the candidate of a model: elements of both directions, and host settings if the model has them."""
    data, ack = model.elements(values)
    hosts = host_settings(values)
    return {"data": data, "ack": ack, "hosts": hosts} if hosts else {"data": data, "ack": ack}


def _start(knobs: Sequence[Knob], before: Fit | None) -> Vector:
    earlier_values = {} if before is None else before.values
    return [knob.place(earlier_values.get(knob.name, knob.start)) for knob in knobs]
