"""Make a run again with its packet log, of results that kept only the numbers of runs."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("run", metavar="PATH/SCHEME/N", help="the run, N is its repetition")
    parser.add_argument("--log", choices=("packets", "full"), help="default: as the experiment says")


def main(arguments: argparse.Namespace) -> int:
    """Print the new files; return 0."""
    new_run = dumbbell.rerun(arguments.directory, arguments.run, arguments.log)
    for name in sorted(new_run.kept):
        print(printable(str(new_run.kept[name])))
    return 0
