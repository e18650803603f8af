"""Check the installation."""

from __future__ import annotations

import argparse

import dumbbell
from dumbbell.base.progress import Progress
from dumbbell.cli.checks import print_checks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("--json", action="store_true")


def main(arguments: argparse.Namespace) -> int:
    """Prints every check; 0 if all are good that are needed, 1 if not."""
    with Progress() as progress:
        progress.doing("checking this machine")
        checks = dumbbell.doctor()
    return print_checks(
        checks, arguments.json, "What is marked -- is missing for real packets only; simulation works without it."
    )
