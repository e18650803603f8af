"""`dumbbell import` and `dumbbell export`."""

import argparse
import sys

import dumbbell
from dumbbell.commands.show import print_summary
from dumbbell.errors import printable


def import_results(arguments: argparse.Namespace) -> int:
    """Imports results; 0 if every run is usable, 1 if some are not (listed)."""
    source, out = arguments.source, arguments.out
    match arguments.format:
        case "pantheon":
            results = dumbbell.import_pantheon(source, out, command=sys.argv)
        case "qlog":
            results = dumbbell.import_qlog(source, out, command=sys.argv)
        case _:
            logs = {"ack": arguments.ack, "scheme": arguments.scheme}
            results = dumbbell.import_mahimahi(source, out, **logs, command=sys.argv)
    print_summary(results)
    bad = [run for run in results.runs if run.status != "done"]
    for run in bad:
        print(printable(f"not usable: {run.scheme}, run {run.run}: {run.reason}"), file=sys.stderr)
    return 1 if bad else 0


def export_results(arguments: argparse.Namespace) -> int:
    """Exports results or a path; 0 if every run could be written, 1 if not (listed)."""
    source, out = arguments.source, arguments.out
    left_out: list[tuple[dumbbell.Run, str]] = []
    match arguments.format:
        case "pantheon":
            left_out, written = dumbbell.export_pantheon(source, out), [out]
        case "qlog":
            chosen = {"run": arguments.run, "flow": arguments.flow, "draft": arguments.draft}
            written, left_out = dumbbell.export_qlog(source, out, **chosen)
        case _:
            chosen = {"direction": arguments.direction, "seed": arguments.seed, "duration": arguments.duration}
            written = [dumbbell.export_trace(source, out, **chosen)]
    for run, reason in left_out:
        print(printable(f"left out: {run.label}: {reason}"), file=sys.stderr)
    for file in written:
        print(printable(file))
    return 1 if left_out else 0
