"""The public names of `dumbbell_reproduce`, and where each is from."""

from .run import Reproduction as Reproduction, reproduce as reproduce
