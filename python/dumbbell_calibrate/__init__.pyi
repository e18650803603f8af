"""The public names of `dumbbell_calibrate`, and where each is from."""

from .run import CalibratedPath as CalibratedPath, calibrate_path as calibrate_path
