"""Write for other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.catalog.options.values import Choice, count, duration, seconds, seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    formats = ("pantheon", "qlog", "trace")
    add("format", type=Choice(*formats), metavar="|".join(formats))
    add("source", metavar="DIR|PATH", help="a results directory; trace: a path whose opportunities to write")
    add("--out", type=Path, metavar="DEST", required=True)
    add("--run", metavar="PATH/SCHEME/N", help="qlog: only this run")
    add("--flow", type=count, metavar="N", help="qlog: only this flow")
    add("--from", dest="from_s", type=seconds, default=0.0, metavar="S", help="qlog: only what happened since then")
    add("--to", dest="to_s", type=seconds, metavar="S", help="qlog: only what happened before")
    drafts = ("0.3", "quic-13")
    add("--draft", type=Choice(*drafts), default="0.3", metavar="|".join(drafts), help="qlog: qvis opens 0.3 (default)")
    add("--direction", type=Choice("data", "ack"), default="data", metavar="data|ack", help="trace: of the path")
    add("--duration", type=duration, default=60.0, metavar="S", help="trace: its length (60)")
    add("--seed", type=seed, default=1, metavar="N", help="trace: seed of the run that it is taken from (1)")


def main(arguments: argparse.Namespace) -> int:
    """Export results or a path; return 0 if every run was written, else 1. Omitted runs are listed."""
    source, out = arguments.source, arguments.out
    left_out: list[tuple[dumbbell.Run, str]] = []
    incomplete: list[tuple[dumbbell.Run, str]] = []
    match arguments.format:
        case "pantheon":
            left_out, files = dumbbell.export_pantheon(source, out), [out]
        case "qlog":
            options = {"run": arguments.run, "flow": arguments.flow, "draft": arguments.draft}
            options |= {"from_s": arguments.from_s, "to_s": arguments.to_s}
            files, left_out, incomplete = dumbbell.export_qlog(source, out, **options)
        case _:
            options = {"direction": arguments.direction, "seed": arguments.seed, "duration": arguments.duration}
            files = [dumbbell.export_trace(source, out, **options)]
    for run, reason in left_out:
        print(printable(f"left out: {run.label}: {reason}"), file=sys.stderr)
    for text in dict.fromkeys(text for _, text in incomplete):
        runs = [run.label for run, lacking in incomplete if lacking == text]
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        print(printable(f"incomplete: {runs[0]}{more}: {text}"), file=sys.stderr)
    for file in files:
        print(printable(file))
    return 1 if left_out else 0
