"""The command `dumbbell calibrate`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell_calibrate
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import (
    count,
    duration,
    fold_count,
    minutes,
    names,
    packet_bytes,
    pair,
    seconds,
    seed,
)
from dumbbell.present.tables import Table, terminal

MODELS_HEAD = ["model", "parameters / numbers", "in-sample", "held out", "in no fit", ""]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell calibrate`."""
    from dumbbell_calibrate.defaults import EVALUATIONS, FOLDS

    add = parser.add_argument
    add("target", metavar="TARGET", help="a results directory, a table (.csv), or an experiment with published numbers")
    add("--out", type=Path, metavar="PATH.toml", required=True, help="the path file; its journal is beside it")
    add("--name", metavar="NAME", help="of the path; default: that of the file")
    add("--path", metavar="P", help="which one, where TARGET has several")
    add("--schemes", type=names, default=(), metavar="A,B", help="only these of TARGET")
    add("--hold-out", type=names, default=(), metavar="A,B", help="schemes of TARGET in no fit: they are predicted")
    add("--truth", metavar="PATH", help="the true path, by name or file: scored beside the one that is found")
    text = "a scheme of TARGET, and ours that simulates it; repeatable"
    add("--as", dest="stands_for", action="append", type=pair, default=[], metavar="NAME=OURS", help=text)
    add("--models", type=names, default=(), metavar="A,B", help="only these of the ladder, as `queue,loss`")
    text = f"groups of schemes, each held out once; leave-one-out: one each; 0: none; default: {FOLDS}"
    add("--folds", type=fold_count, default=FOLDS, metavar="N", help=text)
    text = f"most paths that a search tries; default: {EVALUATIONS}"
    add("--evaluations", type=count, default=EVALUATIONS, metavar="N", help=text)
    text = "minimise Pantheon's error as it is, whatever the runs of a scheme differ by"
    add("--equal-weights", action="store_true", help=text)
    add("--minutes", type=minutes, metavar="M", help="how long, about; default: until all searches have ended")
    add("--runs", type=count, metavar="N", help="simulated repetitions on each path that is tried; default: TARGET's")
    add("--duration", type=duration, metavar="S", help="of a run; default: TARGET's")
    add("--flows", type=count, metavar="N", help="flows of the same scheme in each run; default: TARGET's")
    add("--interval", type=seconds, metavar="S", help="time between the starts of flows")
    text = "what the path adds to each datagram; default: TARGET's"
    add("--overhead", dest="overhead_bytes", type=packet_bytes, metavar="BYTES", help=text)
    text = "sockets of schemes of the kernel's TCP; default: Linux's, unlimited for simulated and emulated results"
    add("--sockets", metavar="linux|unlimited", help=text)
    add("--seed", type=seed, default=1, metavar="N")
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor")
    add("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers execute the runs")
    add("--resume", action="store_true", help="go on with what was tried before")
    add("--json", action="store_true", help="everything, for programs")


def main(arguments: argparse.Namespace) -> int:
    """Calibrate, print the result and write the path file."""
    of_target = (
        "path",
        "schemes",
        "hold_out",
        "truth",
        "runs",
        "duration",
        "flows",
        "interval",
        "overhead_bytes",
        "sockets",
    )
    of_search = (
        "name",
        "models",
        "folds",
        "evaluations",
        "equal_weights",
        "minutes",
        "seed",
        "jobs",
        "cluster",
        "resume",
    )
    options = {name: getattr(arguments, name) for name in (*of_target, *of_search)} | {
        "stands_for": dict(arguments.stands_for)
    }
    out = arguments.out
    _require_writable(out, options["resume"])
    try:
        calibration = dumbbell_calibrate.calibrate_path(arguments.target, out, **options)
    except KeyboardInterrupt:
        print(printable(f"dumbbell: interrupted: the same command with --resume goes on ({out})"), file=sys.stderr)
        return 1
    files = calibration.save(out)
    if arguments.json:
        sys.stdout.write(to_json(calibration.as_json()))
    else:
        _print(calibration)
    for file in files:
        print(printable(f"wrote {file}"), file=sys.stderr)
    return 0


def _require_writable(out: Path, is_resumed: bool) -> None:
    """Refuse an unwritable path file before the search, which takes minutes."""
    if out.suffix != ".toml":
        raise UserError(f"--out {out}: allowed is a file name that ends in .toml")
    if not out.absolute().parent.is_dir():
        raise UserError(f"--out {out}: there is no directory {out.parent}")
    if out.exists() and not is_resumed:
        raise UserError(f"--out {out}: is there already: choose another name, or remove it")


def _print(calibration: dumbbell_calibrate.CalibratedPath) -> None:
    print(terminal.fit(Table.of(MODELS_HEAD, calibration.compared())))
    print()
    rows = ([interval.knob.name, interval.text()] for interval in calibration.parameters)
    print(terminal.fit(Table.of(["parameter", "found (95 % of draws)"], rows)))
    if calibration.truth is not None:
        print()
        print(terminal.fit(Table.of(["path, in fresh runs", "error", "unlikelihood"], calibration.beside_truth())))
    if words := calibration.host_words():
        print(f"\nA path file has no hosts: run with {' '.join(words)}")
