"""Which parameters the data determines: the bootstrap over schemes and over what runs differ by.

Every path that was tried has what each scheme got over it, so a search among them can be repeated for other weights of
the schemes and for other measured values without a simulation. A parameter whose best value moves far when schemes are
drawn with replacement (Efron, Annals of Statistics 7, 1979) and measured means by their standard errors is one that the
data does not determine.
"""

from dataclasses import dataclass

import numpy

from dumbbell_calibrate.error import chances, emulated, measured, searched
from dumbbell_calibrate.fitting import Fit
from dumbbell_calibrate.path_models import Knob
from dumbbell_calibrate.target import Target

DRAWS = 400
LEVEL = 0.95
_VAGUE_SHARE = 0.5
"""An interval that takes more of the bounds is of a parameter that is not determined,"""
_VAGUE_RATIO = 3.0
"""and one whose ends differ by more than this factor."""


@dataclass(frozen=True)
class Interval:
    """A parameter: what was found, and where it lies in 95 of 100 draws."""

    knob: Knob
    value: float
    low: float
    high: float

    @property
    def determined(self) -> bool:
        """Whether the data says what it is."""
        wide = self.knob.place(self.high) - self.knob.place(self.low) > _VAGUE_SHARE
        return not wide and self.high <= _VAGUE_RATIO * max(self.low, 1e-12)

    def text(self) -> str:
        """`20.1 Mbit/s (19.8 to 20.6)`."""
        told = f"{self.value:.4g} {self.knob.unit} ({self.low:.4g} to {self.high:.4g})"
        return told if self.determined else f"{told}: not determined by the data"


def intervals(target: Target, fit: Fit, weighed: bool, seed: int) -> list[Interval]:
    """Of every parameter of a fit; `weighed` as the fit was."""
    points = target.of(fit.schemes)
    rng = numpy.random.default_rng(seed)
    places = numpy.array([trial.place for trial in fit.trials])
    found, wanted = emulated(points, [trial.outcomes for trial in fit.trials]), measured(points)
    chance = chances(points, target.experiment.runs)
    owners = numpy.array([fit.schemes.index(point.scheme) for point in points])
    chosen = []
    for _ in range(DRAWS):
        weights = numpy.bincount(rng.integers(len(fit.schemes), size=len(fit.schemes)), minlength=len(fit.schemes))
        drawn = wanted * (1.0 + chance * rng.standard_normal(wanted.shape))
        chosen.append(int(numpy.argmin(searched(found, drawn, chance if weighed else None, weights[owners]))))
    low, high = (numpy.quantile(places[chosen], q, axis=0) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return [
        Interval(knob, fit.values[knob.name], *_around(knob, fit.values[knob.name], low[index], high[index]))
        for index, knob in enumerate(fit.knobs)
    ]


def _around(knob: Knob, value: float, low: float, high: float) -> tuple[float, float]:
    """The interval has what was found, too."""
    return min(knob.value(float(low)), value), max(knob.value(float(high)), value)
