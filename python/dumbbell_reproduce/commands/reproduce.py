"""Compare measured runs with simulated ones on their path."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell_reproduce
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import count, minutes, names, pair, seed
from dumbbell.present.tables import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell reproduce`."""
    add = parser.add_argument
    text = "measured runs: data of Pantheon, captures, qlogs, iperf3's JSON, or results of `dumbbell import`"
    add("source", metavar="DIR", help=text)
    add("--out", type=Path, metavar="DIR", required=True, help="a new directory: page, table, and all runs as results")
    add("--runs", type=count, metavar="N", help="simulated repetitions of each run; default: 5")
    text = "a scheme of DIR, and ours that simulates it; repeatable"
    add("--as", dest="stands_for", action="append", type=pair, default=[], metavar="NAME=OURS", help=text)
    text = "schemes whose runs have the host that all others tell; default: each run, as the other runs tell"
    add("--hold-out", type=names, default=(), metavar="A,B", help=text)
    add("--path", metavar="PATH", help="simulate on this path, by name or file; default: what the logs tell")
    text = "sockets of schemes of the kernel's TCP: as Linux has them, or without a limit; default: linux"
    add("--sockets", default="linux", metavar="linux|unlimited", help=text)
    text = "where the trace files are that Pantheon's metadata name, besides DIR; default: DIR alone"
    add("--traces", type=Path, metavar="DIR", help=text)
    add("--seed", type=seed, default=1, metavar="N")
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor")
    text = "refuse what takes longer than M minutes to simulate, by the estimate; default: no limit"
    add("--most-minutes", type=minutes, metavar="M", help=text)
    add("--resume", action="store_true", help="go on with what is in the directory of --out")
    add("--json", action="store_true", help="everything, for programs")


def main(arguments: argparse.Namespace) -> int:
    """Simulate the measured runs, print the score and write the page. Return 1 if some runs could not be simulated."""
    options = {
        name: getattr(arguments, name)
        for name in ("hold_out", "path", "sockets", "traces", "seed", "jobs", "resume", "most_minutes")
    }
    options |= {} if arguments.runs is None else {"runs": arguments.runs}
    out = arguments.out
    try:
        reproduction = dumbbell_reproduce.reproduce(
            arguments.source, out, stands_for=dict(arguments.stands_for), command=sys.argv, **options
        )
    except KeyboardInterrupt as stopped:
        reason = str(stopped) or "interrupted"
        print(printable(f"dumbbell: {reason}: the same command with --resume goes on ({out})"), file=sys.stderr)
        return 1
    files = reproduction.save(out)
    if arguments.json:
        sys.stdout.write(to_json(reproduction.as_json()))
    else:
        _print(reproduction)
    for text in reproduction.left_out:
        print(printable(f"left out: {text}"), file=sys.stderr)
    for file in files:
        print(printable(f"wrote {file}"), file=sys.stderr)
    return 1 if reproduction.left_out else 0


def _print(reproduction: dumbbell_reproduce.Reproduction) -> None:
    for sentence in reproduction.findings():
        print(printable(sentence))
    print()
    print(terminal.fit(reproduction.table()))
