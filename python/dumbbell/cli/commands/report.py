"""Write report.html and report.pdf."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.cli.options import convention_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    convention_option(parser)
    add("--html", action="store_true", help="only HTML")
    add("--pdf", action="store_true", help="only PDF")


def main(arguments: argparse.Namespace) -> int:
    """Writes the report; both forms unless one is asked for. Of a benchmark: its pages."""
    both = arguments.html == arguments.pdf
    html, pdf = arguments.html or both, arguments.pdf or both
    for file in dumbbell.write_report(arguments.directory, html=html, pdf=pdf, convention=arguments.convention):
        print(printable(file))
    return 0
