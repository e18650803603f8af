"""Make a run again with its packet log, of results that kept only the numbers of runs."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("run", metavar="PATH/SCHEME/N", help="the run, N is its repetition")
    parser.add_argument("--log", choices=("packets", "full"), help="default: as the experiment says")


def main(arguments: argparse.Namespace) -> int:
    """Print the files that were made; return 0."""
    made = dumbbell.rerun(arguments.directory, arguments.run, arguments.log)
    for name in sorted(made.kept):
        print(printable(str(made.kept[name])))
    return 0
