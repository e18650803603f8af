"""Golden traces of a controller in a few short scenarios, and scripts, for those who implement it elsewhere."""

from dumbbell.studies.vectors.check import Difference, check_vectors
from dumbbell.studies.vectors.scripts import ScriptCheck, ScriptResult, shipped_scripts
from dumbbell.studies.vectors.write import write_vectors

__all__ = ["Difference", "ScriptCheck", "ScriptResult", "check_vectors", "shipped_scripts", "write_vectors"]
