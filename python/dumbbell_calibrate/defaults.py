"""Numbers of a calibration, unless told otherwise."""

FOLDS = 4
"""Groups of schemes, each of which is held out once."""

EVALUATIONS = 800
"""Most paths that a search tries."""
