"""The version of dumbbell, from the compiled module."""

from dumbbell.core import version

__version__ = version()
