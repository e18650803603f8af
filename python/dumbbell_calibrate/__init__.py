"""Calibration: a search for the path model under which built-in schemes behave as measured elsewhere.

`target.py` has the measurements, `path_models.py` the models, `error.py` the errors of a path. `objective.py` runs the
simulator on `workers.py` and keeps results in `journal.py`. `search.py` is the optimiser; `smoothing.py` averages
chance out. `fitting.py` fits a model, `ladder.py` holds schemes out and chooses a model. `uncertainty.py` finds
undetermined parameters, `truth.py` scores the true path if it is known, `page.py` writes the files.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
