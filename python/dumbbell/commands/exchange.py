"""`dumbbell import` and `dumbbell export`."""

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.commands.show import print_summary
from dumbbell.errors import printable


def import_results(arguments: argparse.Namespace) -> int:
    """Imports results; 0 if every run is usable, 1 if some are not (listed)."""
    source, out = arguments.source, arguments.out
    if arguments.format == "pantheon":
        sets = dumbbell.pantheon_sets(source)
        if sets and sets != [Path(source)]:
            return _import_sets(Path(source), sets, Path(out), arguments.strict)
    match arguments.format:
        case "pantheon":
            results = dumbbell.import_pantheon(source, out, strict=arguments.strict, command=sys.argv)
        case "qlog":
            results = dumbbell.import_qlog(source, out, command=sys.argv)
        case "pcap":
            ends = {"receiver": arguments.receiver, "end": arguments.end, "clocks": arguments.clocks}
            results = dumbbell.import_pcap(source, out, **ends, scheme=arguments.scheme, command=sys.argv)
        case "iperf3":
            results = dumbbell.import_iperf3(source, out, command=sys.argv)
        case "ss":
            results = dumbbell.import_ss(source, out, command=sys.argv)
        case _:
            logs = {"ack": arguments.ack, "scheme": arguments.scheme or "imported"}
            results = dumbbell.import_mahimahi(source, out, **logs, command=sys.argv)
    return _tell_imported(results)


def _import_sets(source: Path, sets: list[Path], out: Path, strict: bool) -> int:
    """Import every data directory below `source` into a directory of its name below `out`; 1 if one is not usable."""
    status = 0
    for place in sets:
        name = place.relative_to(source)
        print(f"\n{printable(name)}:")
        try:
            status |= _tell_imported(dumbbell.import_pantheon(place, out / name, strict=strict, command=sys.argv))
        except dumbbell.Error as error:
            print(printable(f"not usable: {error}"), file=sys.stderr)
            status = 1
    return status


def _tell_imported(results: dumbbell.Results) -> int:
    """Print what was imported and what is not usable of it; 0 if all is."""
    print_summary(results)
    for run in results.runs:
        for note in run.notes:
            print(printable(f"note: {run.scheme}, run {run.run}: {note}"), file=sys.stderr)
    bad = [run for run in results.runs if run.status != "done"]
    for run in bad:
        print(printable(f"not usable: {run.scheme}, run {run.run}: {run.reason}"), file=sys.stderr)
    return 1 if bad else 0


def export_results(arguments: argparse.Namespace) -> int:
    """Exports results or a path; 0 if every run could be written, 1 if not (listed)."""
    source, out = arguments.source, arguments.out
    left_out: list[tuple[dumbbell.Run, str]] = []
    incomplete: list[tuple[dumbbell.Run, str]] = []
    match arguments.format:
        case "pantheon":
            left_out, written = dumbbell.export_pantheon(source, out), [out]
        case "qlog":
            chosen = {"run": arguments.run, "flow": arguments.flow, "draft": arguments.draft}
            written, left_out, incomplete = dumbbell.export_qlog(source, out, **chosen)
        case _:
            chosen = {"direction": arguments.direction, "seed": arguments.seed, "duration": arguments.duration}
            written = [dumbbell.export_trace(source, out, **chosen)]
    for run, reason in left_out:
        print(printable(f"left out: {run.label}: {reason}"), file=sys.stderr)
    for what in dict.fromkeys(what for _, what in incomplete):
        runs = [run.label for run, lacking in incomplete if lacking == what]
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        print(printable(f"incomplete: {runs[0]}{more}: {what}"), file=sys.stderr)
    for file in written:
        print(printable(file))
    return 1 if left_out else 0
