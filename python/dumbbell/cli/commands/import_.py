"""Read results and scripts of other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.catalog.options.values import Choice
from dumbbell.cli.options import request_of, request_options
from dumbbell.cli.summary import print_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    kinds = dumbbell.import_kinds()
    reads = "; ".join(f"{kind}: {summary}" for kind, summary in kinds.items())
    add("kind", type=Choice(*kinds), metavar="|".join(kinds), help=reads.replace("%", "%%"))
    add("source", type=Path, metavar="SRC")
    add("--out", type=Path, metavar="DIR", required=True, help="new results directory; packetdrill: new script")
    request_options(parser, dumbbell.ImportRequest)


def main(arguments: argparse.Namespace) -> int:
    """Import results; return 0 if every run is usable, else 1. Unusable runs are listed."""
    request = request_of(dumbbell.ImportRequest, arguments, command=sys.argv)
    left_out = dumbbell.import_file(request)
    if left_out is not None:
        print(printable(request.out))
        for note in left_out:
            print(printable(f"note: {request.source}: left out: {note}"), file=sys.stderr)
        return 0
    parts = dumbbell.import_parts(request)
    if parts == [request]:
        return _tell_imported(dumbbell.import_results_request(request))
    return _import_parts(request, parts)


def _import_parts(request: dumbbell.ImportRequest, parts: list[dumbbell.ImportRequest]) -> int:
    """Import every part of a request into its own directory; return 1 if a run is not usable."""
    status = 0
    for part in parts:
        print(f"\n{printable(Path(part.source).relative_to(request.source))}:")
        try:
            status |= _tell_imported(dumbbell.import_results_request(part))
        except dumbbell.Error as error:
            print(printable(f"not usable: {error}"), file=sys.stderr)
            status = 1
    return status


def _tell_imported(results: dumbbell.Results) -> int:
    """Print the imported results and their unusable runs; return 0 if all runs are usable."""
    print_summary(results)
    for run in results.runs:
        for note in run.notes:
            print(printable(f"note: {run.scheme}, run {run.run}: {note}"), file=sys.stderr)
    bad = [run for run in results.runs if run.status != "done"]
    for run in bad:
        print(printable(f"not usable: {run.scheme}, run {run.run}: {run.reason}"), file=sys.stderr)
    return 1 if bad else 0
