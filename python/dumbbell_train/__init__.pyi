"""The public names of `dumbbell_train`, and where each is from."""

from .job import Trained as Trained
from .training import train_controller as train_controller, trainers as trainers
