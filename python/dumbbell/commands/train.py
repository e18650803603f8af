"""`dumbbell train`: makes a learned controller anew."""

import sys
from collections.abc import Mapping
from typing import Any

import dumbbell
from dumbbell.errors import printable


def train(kind: str, given: Mapping[str, Any]) -> int:
    """Trains with the arguments of `dumbbell.train_controller`; 0, or 1 if it was interrupted."""
    trained = dumbbell.train_controller(kind, **given)
    print(printable(trained.file))
    if trained.interrupted:
        again = "the same command with --resume goes on"
        print(printable(f"dumbbell: interrupted: {trained.file} has what was learned so far: {again}"), file=sys.stderr)
        return 1
    print(trained.said, file=sys.stderr)
    return 0
