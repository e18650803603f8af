"""Calibration: the path model under which our schemes behave as they were measured elsewhere.

`target.py` is what was measured, `path_models.py` the ladder of models, `error.py` how far a path is off,
`objective.py` asks the simulator (by `workers.py`, kept in `journal.py`), `search.py` is the optimiser, `smoothing.py`
sees through chaos, `fitting.py` fits a model, `ladder.py` holds schemes out and chooses, `uncertainty.py` says what the
data does not determine, `truth.py` scores the true path where it is known, `page.py` writes it all down.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
