"""The version of dumbbell, which the compiled module knows."""

from dumbbell.core import version

__version__ = version()
