"""The public names of `dumbbell_conformance`, and where each is from."""

from .run import Conformance as Conformance, check_conformance as check_conformance
from .vectors import (
    Difference as Difference,
    ScriptCheck as ScriptCheck,
    ScriptResult as ScriptResult,
    check_vectors as check_vectors,
    shipped_scripts as shipped_scripts,
    write_vectors as write_vectors,
)
from .vectors.packetdrill import import_packetdrill as import_packetdrill
from .vectors.run import run_scripts as run_scripts
