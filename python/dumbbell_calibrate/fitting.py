"""One model fitted to what was measured of some schemes."""

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
    emulated,
    errors,
    measured,
    replication_error,
    searched,
)
from dumbbell_calibrate.journal import Candidate
from dumbbell_calibrate.objective import JUDGED_RUNS, Objective, judged
from dumbbell_calibrate.path_models import Hints, Knob, Model, host_settings
from dumbbell_calibrate.search import Effort, Vector, derived_seed, minimise
from dumbbell_calibrate.smoothing import Surface, surface
from dumbbell_calibrate.target import Target

REFINED = 40
"""So many evaluations of a search are around the best place of a smooth surface through the others,"""
_ROUNDS, _ON_SURFACE = 4, 800
"""which is found, tried and made anew so many times; what the search on the surface may ask of it."""
_GOOD = 1 / 3
"""What the surface promises has to be among this share of all that was tried, or it is not believed."""


@dataclass(frozen=True)
class Trial:
    """A path that was tried: where its knobs stood, what schemes got, and what is minimised."""

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
    """Pantheon's, over these schemes: in-sample."""
    trials: list[Trial]
    numbers: int = 0
    """How many measured numbers the parameters were fitted to."""

    @property
    def values(self) -> dict[str, float]:
        """The parameters found."""
        return values_at(self.knobs, self.best.place)


class Watcher(Protocol):
    """Who is told how searches go."""

    def begin(self, name: str) -> None:
        """The next search."""

    def tell(self, tried: int, error: float) -> None:
        """So many paths were tried, and the best is so far off."""

    def end(self) -> None:
        """It has ended, or is not worth it."""


class _Search:
    """The paths of one model that are tried for some schemes."""

    def __init__(self, fitter: "Fitter", model: Model, schemes: Sequence[str]) -> None:
        self._objective, self._watcher, self._model, self._schemes = fitter.objective, fitter.watcher, model, schemes
        self.points = fitter.target.of(schemes)
        self.knobs = model.at(Hints.of(self.points))
        self.seed = derived_seed(fitter.seed, model.name, *schemes)
        self.trials: list[Trial] = []
        self._wanted = measured(self.points)
        self._chance = chances(self.points, fitter.target.experiment.runs) if fitter.weighed else None

    def evaluate(self, places: Sequence[Vector]) -> list[float]:
        """Tries paths; what is minimised of each."""
        paths = [candidate_of(self._model, values_at(self.knobs, place)) for place in places]
        found = self._objective.outcomes(paths, self._schemes)
        values = self._values(emulated(self.points, found))
        self.trials += map(Trial, map(list, places), paths, found, values)
        return values

    def at(self, place: Vector) -> Trial:
        """What was tried there."""
        return next(trial for trial in self.trials if trial.place == place)

    @property
    def numbers(self) -> int:
        """How many measured numbers decide: throughputs and delays, and losses where they are weighed."""
        return int((~numpy.isnan(self._wanted[:, : 2 if self._chance is None else None])).sum())

    def tell(self, tried: int, best: Vector) -> None:
        """Says how far it is."""
        self._watcher.tell(tried, self.error(self.at(best)))

    def error(self, trial: Trial) -> float:
        """Pantheon's."""
        return replication_error(errors(self.points, trial.outcomes))

    def refined(self, place: Vector) -> Vector:
        """The best place of the smooth surface through all that was tried, which is tried, and what is around it."""
        rng = numpy.random.default_rng(self.seed)
        best = place
        for number in range(_ROUNDS):
            found = emulated(self.points, [trial.outcomes for trial in self.trials])
            smooth = surface([trial.place for trial in self.trials], found, [trial.value for trial in self.trials])
            if smooth is None:
                break
            best = self._best_of(smooth, self.seed + number)
            around = best + 0.5 * smooth.spread * rng.standard_normal((REFINED // _ROUNDS - 1, len(best)))
            self.evaluate([best, *around.clip(0.0, 1.0).tolist()])
        believed = self.at(best).value <= float(numpy.quantile([trial.value for trial in self.trials], _GOOD))
        return best if believed else place

    def _best_of(self, smooth: Surface, seed: int) -> Vector:
        def predicted(places: Sequence[Vector]) -> list[float]:
            return self._values(smooth.at([smooth.inside(place) for place in places]))

        start, widths = smooth.inside(smooth.middle.tolist()), smooth.spread.tolist()
        return smooth.inside(minimise(predicted, start, widths, Effort(_ON_SURFACE), seed))

    def _values(self, found: Array) -> list[float]:
        return [float(value) for value in searched(found, self._wanted, self._chance)]


@dataclass
class Fitter:
    """Fits models to schemes of a target."""

    target: Target
    objective: Objective
    evaluations: int
    weighed: bool
    """Whether schemes whose runs differ less count more."""
    seed: int
    until: float | None
    searches_left: int
    watcher: Watcher
    clock: Clock = SYSTEM_CLOCK

    def fit(self, model: Model, schemes: Sequence[str], before: Fit | None, name: str) -> Fit:
        """The best path of a model for these schemes; the search goes on from the fit `before`."""
        self.watcher.begin(name)
        search = _Search(self, model, schemes)
        refines = self.weighed and self.evaluations > REFINED
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
        """How far each point of these schemes is off in runs with seeds that no fit has seen."""
        points = self.target.of(schemes)
        return dict(zip((point.key for point in points), errors(points, self._judged(candidate, schemes)), strict=True))

    def unlikelihood(self, candidate: Candidate) -> float:
        """What searches minimise, of the schemes that are fitted, in runs with seeds that no fit has seen."""
        points = self.target.points
        chance = chances(points, JUDGED_RUNS) if self.weighed else None
        found = emulated(points, [self._judged(candidate, self.target.schemes)])
        return float(searched(found, measured(points), chance)[0])

    def _judged(self, candidate: Candidate, schemes: Sequence[str]) -> Outcomes:
        return self.objective.outcomes([judged(candidate)], schemes)[0]

    def skip(self, name: str) -> None:
        """A search that is not worth it."""
        self.watcher.begin(name)
        self.watcher.end()
        self.searches_left -= 1

    def _deadline(self) -> float | None:
        """Searches that are left share the time that is left."""
        if self.until is None:
            return None
        now = self.clock.monotonic()
        return now + max(self.until - now, 0.0) / max(self.searches_left, 1)


def values_at(knobs: Sequence[Knob], place: Vector) -> dict[str, float]:
    """The values of knobs."""
    return {knob.name: knob.value(u) for knob, u in zip(knobs, place, strict=True)}


def candidate_of(model: Model, values: dict[str, float]) -> Candidate:
    """Both directions, as the core is given them, and what the model says of hosts."""
    data, ack = model.elements(values)
    hosts = host_settings(values)
    return {"data": data, "ack": ack, "hosts": hosts} if hosts else {"data": data, "ack": ack}


def _start(knobs: Sequence[Knob], before: Fit | None) -> Vector:
    known = {} if before is None else before.values
    return [knob.place(known.get(knob.name, knob.start)) for knob in knobs]
