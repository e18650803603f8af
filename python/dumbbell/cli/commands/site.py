"""Write the pages of results for any web server."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directories", type=Path, nargs="+", metavar="DIR")
    add("--out", type=Path, required=True, metavar="WEB", help="a new folder")


def main(arguments: argparse.Namespace) -> int:
    """Write the pages, and print their place."""
    print(printable(dumbbell.write_site(*arguments.directories, out=arguments.out)))
    return 0
