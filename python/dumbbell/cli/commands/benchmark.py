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
    """Add the arguments of the command."""
    headings = request_options(parser, dumbbell.BenchmarkRequest)
    parser.add_argument("--full", action="store_true", help="everything (the default)")
    result_options(parser, headings)
    parser.usage = "%(prog)s [OPTIONS]"


def main(arguments: argparse.Namespace) -> int:
    """Run the scenarios and write their pages, or print the plan; return 0 if every run is good, else 1."""
    request = request_of(dumbbell.BenchmarkRequest, arguments, path=chosen_path(arguments))
    if arguments.full and request.quick:
        raise UserError("--full: not with --quick: a benchmark is one of both")
    if arguments.dry_run:
        return dry_run(dumbbell.preview_benchmark_request(request), arguments.json)
    return _benchmark(request, arguments.json)


def _benchmark(request: dumbbell.BenchmarkRequest, as_json: bool) -> int:
    """Execute the request; return 0 if every run is good, else 1."""
    try:
        results = dumbbell.run_benchmark_request(replace(request, command=sys.argv))
    except dumbbell.Interrupted as interruption:
        again = f"the same command with --resume --out {interruption.directory} continues"
        print(printable(f"dumbbell: {interruption}: {again}"), file=sys.stderr)
        return 1
    tell_failures(results.outcome)
    if as_json:
        note = {
            "directory": str(results.directory),
            "index": str(results.index),
            "database": results.database and str(results.database),
        }
        counts = {"finished": results.outcome.finished, "failed": len(results.outcome.failed)}
        sys.stdout.write(to_json(note | counts | {"verdicts": results.verdicts}))
    else:
        from dumbbell.present.tables.verdicts import LEGEND, by_group  # slow to import

        if results.verdicts:
            print(f"{terminal.fit(by_group(results.verdicts))}\n{LEGEND}\n")
        print(printable(results.index))
    return 1 if results.outcome.failed or results.outcome.unrecorded else 0
