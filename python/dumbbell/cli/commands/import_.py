"""Read results and scripts of other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.catalog.options.values import Choice
from dumbbell.cli.summary import print_summary

_LEFT_OUT = "# left out: "
"""Beginning of a script's lines about what was not taken (docs/packetdrill.md)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    formats = ("pantheon", "mahimahi", "qlog", "pcap", "iperf3", "iperf", "ss", "flent", "netlog", "packetdrill")
    add("format", type=Choice(*formats), metavar="|".join(formats))
    add("source", type=Path, metavar="SRC")
    add("--out", type=Path, metavar="DIR", required=True, help="new results directory; packetdrill: new script")
    add("--strict", action="store_true", help="pantheon: refuse whatever Pantheon itself would not write")
    add("--ack", type=Path, metavar="LOG", help="mahimahi: the log of the other direction")
    add("--scheme", metavar="NAME", help="mahimahi, pcap: what made the traffic")
    add("--receiver", type=Path, metavar="PCAP", help="pcap: the capture of the receiver, with SRC that of the sender")
    ends = ("sender", "receiver")
    add("--end", type=Choice(*ends), metavar="|".join(ends), help="pcap: where SRC was captured; default: found out")
    clocks = ("auto", "stamps", "unknown")
    help_clocks = "pcap: delays between both captures as their stamps say, or above the smallest (auto)"
    add("--clocks", type=Choice(*clocks), default="auto", metavar="|".join(clocks), help=help_clocks)


def main(arguments: argparse.Namespace) -> int:
    """Imports results; 0 if every run is usable, 1 if some are not (listed)."""
    source, out = arguments.source, arguments.out
    if arguments.format == "packetdrill":
        return _import_packetdrill(source, out)
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
        case "iperf":
            results = dumbbell.import_iperf(source, out, command=sys.argv)
        case "netlog":
            results = dumbbell.import_netlog(source, out, command=sys.argv)
        case "flent":
            results = dumbbell.import_flent(source, out, command=sys.argv)
        case _:
            logs = {"ack": arguments.ack, "scheme": arguments.scheme or "imported"}
            results = dumbbell.import_mahimahi(source, out, **logs, command=sys.argv)
    return _tell_imported(results)


def _import_packetdrill(source: Path, out: Path) -> int:
    """Convert a script, and print what was left out of it."""
    made = dumbbell.import_packetdrill(source, out)
    print(printable(made))
    for line in made.read_text().split("\n"):
        if line.startswith(_LEFT_OUT):
            print(printable(f"note: {source}: {line.removeprefix('# ')}"), file=sys.stderr)
    return 0


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
