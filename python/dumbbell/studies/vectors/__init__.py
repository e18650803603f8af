"""Golden traces of a controller: what it did in a few short scenarios, for those who implement it elsewhere."""

from dumbbell.studies.vectors.check import Difference, check_vectors
from dumbbell.studies.vectors.write import write_vectors

__all__ = ["Difference", "check_vectors", "write_vectors"]
