"""`dumbbell import` and `dumbbell export`."""

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell import catalog
from dumbbell.catalog.traces import trace_text
from dumbbell.commands.show import print_summary
from dumbbell.errors import UserError
from dumbbell.interchange.mahimahi import LinkLogs, import_mahimahi
from dumbbell.interchange.pantheon_export import export_pantheon
from dumbbell.interchange.pantheon_import import import_pantheon
from dumbbell.interchange.qlog_export import export_qlog
from dumbbell.interchange.qlog_import import import_qlog


def import_results(arguments: argparse.Namespace) -> int:
    """Imports results; 0 if every run is usable, 1 if some are not (listed)."""
    if arguments.format == "pantheon":
        if not arguments.source.is_dir():
            raise UserError(f"{arguments.source}: no such directory")
        results = import_pantheon(arguments.source, arguments.out, sys.argv)
    elif arguments.format == "qlog":
        results = import_qlog(arguments.source, arguments.out, sys.argv)
    else:
        logs = LinkLogs(arguments.source, arguments.ack, arguments.scheme)
        results = import_mahimahi(logs, arguments.out, sys.argv)
    print_summary(dumbbell.Results(results))
    bad = [run for run in results.runs() if run["status"] != "done"]
    for run in bad:
        print(f"not usable: {run['scheme']}, run {run['run']}: {run['reason']}", file=sys.stderr)
    return 1 if bad else 0


def export_trace(name: str, direction: str, seed: int, seconds: float, file: Path) -> int:
    """Writes the delivery opportunities of a path as a mahimahi trace."""
    text = trace_text(catalog.paths().find(name), direction, seed, seconds)
    try:
        file.write_text(text, encoding="ascii")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    print(file)
    return 0


def export_results(directory: Path, destination: Path) -> int:
    """Exports results; 0 if every run could be written, 1 if not (listed)."""
    left_out = export_pantheon(directory, destination)
    for run, reason in left_out:
        print(f"left out: {run.label}: {reason}", file=sys.stderr)
    print(destination)
    return 1 if left_out else 0


def export_flows(directory: Path, destination: Path, run: str | None, flow: int | None, draft: str) -> int:
    """Exports flows as qlogs; 0 if every run could be written, 1 if not (listed)."""
    written, left_out = export_qlog(directory, destination, run, flow, draft)
    for skipped, reason in left_out:
        print(f"left out: {skipped.label}: {reason}", file=sys.stderr)
    for file in written:
        print(file)
    return 1 if left_out else 0
