"""Run an experiment."""

from __future__ import annotations

import argparse

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.cli.options import chosen_path, request_of, request_options, result_options
from dumbbell.cli.outcome import dry_run, execute


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("experiment", nargs="?", metavar="EXPERIMENT", help="a listed experiment or a TOML file")
    result_options(parser, request_options(parser, dumbbell.RunRequest))
    parser.usage = "%(prog)s [EXPERIMENT] [OPTIONS]"


def main(arguments: argparse.Namespace) -> int:
    """Execute the experiment, or print the plan; return 0 if every run is good, else 1."""
    request = request_of(dumbbell.RunRequest, arguments, path=chosen_path(arguments) or ())
    if not arguments.dry_run:
        return execute(request, arguments.json)
    if request.until is not None:
        raise UserError("--until: not with --dry-run: how many runs it takes shows only when they are made")
    return dry_run(dumbbell.preview_request(request), arguments.json)
