"""The benchmark: every standard scenario for the schemes under test, its database and its pages."""

from dumbbell.benchmark.model import Benchmark, Part
from dumbbell.benchmark.selection import members, open_benchmark

__all__ = ["Benchmark", "Part", "members", "open_benchmark"]
