"""Default numbers of a calibration."""

FOLDS = 4
"""Number of groups of schemes, each of which is held out once."""

EVALUATIONS = 800
"""Largest number of paths that a search tries."""
