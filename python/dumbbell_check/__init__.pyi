"""The public names of `dumbbell_check`, and where each is from."""

from .run import CheckResults as CheckResults, check as check, update_baseline as update_baseline
