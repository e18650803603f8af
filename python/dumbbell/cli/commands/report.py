"""Write a report: report.html and report.pdf."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.cli.options import convention_option, require_room_to_draw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    convention_option(parser)
    add("--html", action="store_true", help="only HTML")
    add("--pdf", action="store_true", help="only PDF")
    add("--all-runs", action="store_true", help="Pantheon's long form, as PDF: statistics and figures of every run")
    add("--run", metavar="PATH/SCHEME/N", help="the page of one run: report-PATH-SCHEME-N.html")


def main(arguments: argparse.Namespace) -> int:
    """Write the report in both forms, or in the requested one; for a benchmark write its pages."""
    require_room_to_draw(arguments.all_runs)
    files = dumbbell.write_report(
        arguments.directory,
        html=True if arguments.html else False if arguments.pdf else None,
        pdf=arguments.pdf or not (arguments.html or arguments.run),
        all_runs=arguments.all_runs,
        run=arguments.run,
        convention=arguments.convention,
    )
    for file in files:
        print(printable(file))
    return 0
