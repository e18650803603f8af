"""Every standard scenario for schemes."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import dumbbell
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json
from dumbbell.cli.options import chosen_path, request_of, request_options, result_options
from dumbbell.cli.outcome import dry_run, tell_failures
from dumbbell.present.tables import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    headings = request_options(parser, dumbbell.BenchmarkRequest)
    parser.add_argument("--full", action="store_true", help="everything (the default)")
    result_options(parser, headings)
    parser.usage = "%(prog)s [OPTIONS]"


def main(arguments: argparse.Namespace) -> int:
    """Runs the scenarios and writes their pages, or tells what would be run; 0 if every run is good, 1 if not."""
    request = request_of(dumbbell.BenchmarkRequest, arguments, path=chosen_path(arguments))
    if arguments.full and request.quick:
        raise UserError("--full: not with --quick: a benchmark is one of both")
    if arguments.dry_run:
        return dry_run(dumbbell.preview_benchmark_request(request), arguments.json)
    return _benchmark(request, arguments.json)


def _benchmark(request: dumbbell.BenchmarkRequest, as_json: bool) -> int:
    """Executes the request; 0 if every run is good, 1 if not."""
    try:
        made = dumbbell.run_benchmark_request(replace(request, command=sys.argv))
    except dumbbell.Interrupted as stopped:
        again = f"the same command with --resume --out {stopped.directory} continues"
        print(printable(f"dumbbell: {stopped}: {again}"), file=sys.stderr)
        return 1
    tell_failures(made.outcome)
    if as_json:
        note = {
            "directory": str(made.directory),
            "index": str(made.index),
            "database": made.database and str(made.database),
        }
        counts = {"finished": made.outcome.finished, "failed": len(made.outcome.failed)}
        sys.stdout.write(to_json(note | counts | {"verdicts": made.verdicts}))
    else:
        from dumbbell.present.tables.verdicts import LEGEND, by_group  # slow to import

        if made.verdicts:
            print(f"{terminal.fit(by_group(made.verdicts))}\n{LEGEND}\n")
        print(printable(made.index))
    return 1 if made.outcome.failed or made.outcome.unrecorded else 0
