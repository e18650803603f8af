"""Write report.html and report.pdf."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--html", action="store_true", help="only HTML")
    add("--pdf", action="store_true", help="only PDF")


def main(arguments: argparse.Namespace) -> int:
    """Writes the report; both forms unless one is asked for. Of a benchmark: its pages."""
    both = arguments.html == arguments.pdf
    for file in dumbbell.write_report(arguments.directory, html=arguments.html or both, pdf=arguments.pdf or both):
        print(printable(file))
    return 0
