"""The list of what can be trained. A new kind is one file with a `TRAINER` and one line here.

The command line reads all of them: they import what takes long (NumPy, JAX) when they train.
"""

from dumbbell_train import actors, imitation, remy
from dumbbell_train.trainer import Trainer

TRAINERS: tuple[Trainer, ...] = (actors.AURORA, actors.FAIR, imitation.INDIGO, imitation.MUSES, remy.TRAINER)

KINDS = {trainer.name: trainer for trainer in TRAINERS}
"""By name."""
