"""Intervals of the parameters by a bootstrap over schemes and over the differences between runs.

Every tried path has the results of each scheme, so the search among them can be repeated for other weights of
the schemes and for other measured values without a simulation. A parameter whose best value moves far when schemes are
drawn with replacement (Efron, Annals of Statistics 7, 1979), and measured means by their standard errors, is not
determined by the data.
"""

from dataclasses import dataclass

import numpy

from dumbbell_calibrate.error import chances, emulated_values, measured_values, search_objective
from dumbbell_calibrate.fitting import Fit
from dumbbell_calibrate.path_models import Knob
from dumbbell_calibrate.target import Target

DRAWS = 400
LEVEL = 0.95
_VAGUE_SHARE = 0.5
"""Share of a parameter's bounds above which an interval is too wide for a determined parameter."""
_VAGUE_RATIO = 3.0
"""Ratio of an interval's ends above which a parameter is not determined."""


@dataclass(frozen=True)
class Interval:
    """A parameter: its calibrated value, and the interval that contains 95 of 100 draws."""

    knob: Knob
    value: float
    low: float
    high: float

    @property
    def determined(self) -> bool:
        """True if the data determines the parameter."""
        wide = self.knob.place(self.high) - self.knob.place(self.low) > _VAGUE_SHARE
        return not wide and self.high <= _VAGUE_RATIO * max(self.low, 1e-12)

    def text(self) -> str:
        """Return the value with its interval: `20.1 Mbit/s (19.8 to 20.6)`."""
        words = f"{self.value:.4g} {self.knob.unit} ({self.low:.4g} to {self.high:.4g})"
        return words if self.determined else f"{words}: not determined by the data"


def intervals(target: Target, fit: Fit, is_weighted: bool, seed: int) -> list[Interval]:
    """Return the intervals of all fitted parameters. `is_weighted` must equal the fit's setting."""
    points = target.of(fit.schemes)
    rng = numpy.random.default_rng(seed)
    places = numpy.array([trial.place for trial in fit.trials])
    simulated_values, target_values = (
        emulated_values(points, [trial.outcomes for trial in fit.trials]),
        measured_values(points),
    )
    chance = chances(points, target.experiment.runs)
    owners = numpy.array([fit.schemes.index(point.scheme) for point in points])
    best_trials = []
    for _ in range(DRAWS):
        weights = numpy.bincount(rng.integers(len(fit.schemes), size=len(fit.schemes)), minlength=len(fit.schemes))
        drawn_values = target_values * (1.0 + chance * rng.standard_normal(target_values.shape))
        best_trials.append(
            int(
                numpy.argmin(
                    search_objective(simulated_values, drawn_values, chance if is_weighted else None, weights[owners])
                )
            )
        )
    low, high = (numpy.quantile(places[best_trials], q, axis=0) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return [
        Interval(knob, fit.values[knob.name], *_around(knob, fit.values[knob.name], low[index], high[index]))
        for index, knob in enumerate(fit.knobs)
    ]


def _around(knob: Knob, value: float, low: float, high: float) -> tuple[float, float]:
    """Return the interval, widened to contain the calibrated value."""
    return min(knob.value(float(low)), value), max(knob.value(float(high)), value)
