"""The version of dumbbell, which the compiled module knows."""

from dumbbell._core import version

__version__ = version()
