"""Reference traces of a controller in a few short scenarios, and scripts, for testing other implementations."""

from dumbbell_conformance.vectors.check import Difference, check_vectors
from dumbbell_conformance.vectors.scripts import ScriptCheck, ScriptResult, shipped_scripts
from dumbbell_conformance.vectors.write import write_vectors

__all__ = ["Difference", "ScriptCheck", "ScriptResult", "check_vectors", "shipped_scripts", "write_vectors"]
