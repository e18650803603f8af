"""Make a learned controller anew."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell_train
from dumbbell.base.errors import printable
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.catalog.options.values import count, minutes, seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from dumbbell_train.kinds import KINDS

    kinds = parser.add_subparsers(dest="kind", required=True, metavar="|".join(KINDS), parser_class=StrictParser)
    for trainer in KINDS.values():
        add = kinds.add_parser(trainer.name, help=trainer.summary, allow_abbrev=False).add_argument
        add("--out", type=Path, metavar="FILE", help=f"default: {trainer.name}{trainer.suffix}")
        add("--seed", type=seed, default=1, metavar="N")
        add("--minutes", type=minutes, metavar="M", help=f"how long; default: {trainer.minutes:g}")
        add("--jobs", type=count, metavar="N", help="threads; default: one per processor")
        add("--resume", action="store_true", help="go on from FILE")
        for setting in trainer.settings:
            add(
                f"--{setting.option}", dest=setting.name, type=setting.parse, metavar=setting.metavar, help=setting.help
            )


def main(arguments: argparse.Namespace) -> int:
    """Train a controller. Return exit status 0, or 1 after an interrupt."""
    settings = {name: value for name, value in vars(arguments).items() if name not in ("command", "kind", "version")}
    result = dumbbell_train.train_controller(arguments.kind, **settings)
    print(printable(result.file))
    if result.interrupted:
        again = "the same command with --resume goes on"
        print(printable(f"dumbbell: interrupted: {result.file} has what was learned so far: {again}"), file=sys.stderr)
        return 1
    print(result.said, file=sys.stderr)
    return 0
