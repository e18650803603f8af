"""List of trainers. A new kind is one file with a `TRAINER` and one line here.

The command line imports every trainer. Trainers import slow modules (NumPy, JAX) only to train.
"""

from dumbbell_train import actors, imitation, remy
from dumbbell_train.trainer import Trainer

TRAINERS: tuple[Trainer, ...] = (actors.AURORA, actors.FAIR, imitation.INDIGO, imitation.MUSES, remy.TRAINER)

KINDS = {trainer.name: trainer for trainer in TRAINERS}
"""Trainers by name."""
