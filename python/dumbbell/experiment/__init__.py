"""From an experiment file and what overrides it to the list of runs, each with its specification."""

from dumbbell.experiment.overrides import Overrides, with_overrides
from dumbbell.experiment.pin import pin
from dumbbell.experiment.planned import Experiment, Run, derive_seed
from dumbbell.experiment.resolve import everything, resolve
from dumbbell.experiment.specification import fitted_transport

__all__ = [
    "Experiment",
    "Overrides",
    "Run",
    "derive_seed",
    "everything",
    "fitted_transport",
    "pin",
    "resolve",
    "with_overrides",
]
