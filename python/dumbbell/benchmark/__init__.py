"""The benchmark: every standard scenario for the schemes under test, its database and its pages."""

from dumbbell.benchmark.model import Benchmark, Part
from dumbbell.benchmark.selection import open_benchmark, suite

__all__ = ["Benchmark", "Part", "open_benchmark", "suite"]
