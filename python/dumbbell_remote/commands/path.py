"""The command `dumbbell path`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell_remote
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import bandwidth, duration, ports, size
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell path`."""
    from dumbbell_remote.pathfinding.probe_budget import DATA_CAP_BYTES, DURATION_S, QUICK_S

    add = parser.add_argument
    add("host", metavar="HOST", help="[user@]HOST[:PORT], where dumbbell is installed and ssh leads to")
    add("--out", type=Path, metavar="FILE.toml", help="write the path there, for --path")
    add("--name", metavar="NAME", help="of the path; default: to-HOST")
    time = parser.add_mutually_exclusive_group()
    time.add_argument("--duration", type=duration, default=DURATION_S, metavar="S", help="about; default: 5min")
    time.add_argument("--quick", dest="duration", action="store_const", const=QUICK_S, help="about one minute")
    cap = "most that may be sent, like 20mbit: the path is not filled then"
    add("--bandwidth-cap", type=bandwidth, metavar="RATE", help=cap)
    text = f"most that may be sent in all, like 200MB; default: {DATA_CAP_BYTES // 10**6}MB"
    add("--data-cap", type=size, default=DATA_CAP_BYTES, metavar="SIZE", help=text)
    add("--ntp", metavar="HOST", help="a server that both machines compare their clocks with")
    add("--remote-address", metavar="ADDRESS", help="where datagrams to the other machine go, if not where ssh goes")
    add("--udp-ports", type=ports, metavar="FROM-TO", help="those that a firewall lets pass")
    add("--json", action="store_true", help="everything, for programs")


def main(arguments: argparse.Namespace) -> int:
    """Measure the path, print the result and write the path file."""
    names = ("name", "ntp", "remote_address", "bandwidth_cap", "data_cap")
    options = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    options |= {"duration": arguments.duration, "udp_ports": arguments.udp_ports}
    out = arguments.out
    if out is not None:
        _require_writable(out)
    path_result = dumbbell_remote.measure_path(arguments.host, **options)
    if arguments.json:
        sys.stdout.write(to_json(path_result.as_json()))
    else:
        _print(path_result)
    if out is not None:
        path_result.save(out)
        print(printable(f"path: {out}: `dumbbell run --path {out}` simulates it"), file=sys.stderr)
    return 0


def _require_writable(out: Path) -> None:
    """Refuse an unwritable path file before the measurement, which takes minutes."""
    if out.suffix != ".toml":
        raise UserError(f"--out {out}: allowed is a file name that ends in .toml")
    if not out.absolute().parent.is_dir():
        raise UserError(f"--out {out}: there is no directory {out.parent}")


def _print(measured_path: dumbbell_remote.MeasuredPath) -> None:
    rtt = measured_path.findings.rtt()
    print("round trip: " + ", ".join(f"{name} {value:.4g} ms" for name, value in rtt.items()))
    for hop in measured_path.findings.hops:
        print(f"  hop {hop['hops']}: {printable(str(hop['router']))}, {hop['rtt_ms']:.3g} ms")
    print()
    print(terminal.fit(Table.of(["way", "", "found (95 %)", "how"], measured_path.rows()), optional=["how"]))
    for reference in measured_path.findings.clocks["references"]:
        verdict = f"refused: {reference['refused']}" if reference["refused"] else "taken in"
        print(printable(f"clocks: {reference['source']}: {verdict}"))
    for note in measured_path.findings.notes:
        print(printable(f"note: {note}"))
    print(f"{measured_path.findings.sent_bytes / 1e6:.1f} MB were sent")
