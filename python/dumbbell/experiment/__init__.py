"""From an experiment file and a request to the list of runs, each with its specification."""

from dumbbell.catalog.run_request import RunRequest
from dumbbell.experiment.pin import pin
from dumbbell.experiment.planned import Experiment, Run, derive_seed
from dumbbell.experiment.requested import with_request
from dumbbell.experiment.resolve import everything, resolve
from dumbbell.experiment.specification import fitted_transport

__all__ = [
    "Experiment",
    "Run",
    "RunRequest",
    "derive_seed",
    "everything",
    "fitted_transport",
    "pin",
    "resolve",
    "with_request",
]
