"""dumbbell weighs congestion control: runs controllers over repeatable paths and measures every packet."""

from dumbbell._core import version

__all__ = ["__version__"]

__version__ = version()
