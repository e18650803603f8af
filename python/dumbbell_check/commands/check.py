"""Check a candidate against a baseline: the gate for CI."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell_check
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import count, names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("candidate", metavar="CANDIDATE", help="a scheme, a plug-in, NAME=PLUG-IN, a baseline file or results")
    add(
        "--against",
        metavar="BASELINE",
        help="the baseline, in one of the same forms; default: NAME.baseline.toml, which --update writes",
    )
    add("--suite", default="quick", metavar="quick|full|FILE", help="the cells to compare in; default: quick")
    add("--cells", type=names, default=(), metavar="NAME[,NAME]", help="only these cells of the suite")
    add(
        "--update",
        dest="update_baseline",
        action="store_true",
        help="run the candidate and write the baseline file",
    )
    add("--seed", type=int, metavar="N", help="other draws of the paths; default: those of the baseline file, else 1")
    add("--most-runs", type=count, metavar="N", help="most runs of each side in a cell; default: as the suite says")
    add(
        "--identical",
        action="store_true",
        help="only see whether packet logs are equal, and exit with 1 if any differs: for changes that change nothing",
    )
    add("--cost", action="store_true", help="also compare what an ACK costs: 10 %% more is worse")
    add("--backend", metavar="sim|emu", help="emu: real packets, for programs; default: sim")
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor; with real packets: 1")
    add("--out", type=Path, metavar="DIR", help="keep the runs in DIR; default: they are removed")
    add("--strict", action="store_true", help="exit with 1 also if a quantity is not resolved")
    add("--json", action="store_true", help="everything as JSON on stdout")
    add("--markdown", type=Path, metavar="FILE", help="append a summary in Markdown to FILE ($GITHUB_STEP_SUMMARY)")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML: a test case for each quantity of each cell")
    add("--annotations", action="store_true", help="print workflow commands for GitHub Actions")


def main(arguments: argparse.Namespace) -> int:
    """Compare both sides; return 0 if nothing is worse, 1 if something is, or if --strict or --identical require it."""
    common_names = ("suite", "cells", "seed", "backend", "jobs")
    common = {name: getattr(arguments, name) for name in common_names} | {"command": sys.argv}
    if arguments.update_baseline:
        if arguments.cost:
            raise UserError("--cost: not with --update, which compares nothing")
        for option in ("most_runs", "out", "markdown", "junit"):
            if getattr(arguments, option) is not None:
                raise UserError(f"--{option.replace('_', '-')}: not with --update, which compares nothing")
        print(printable(dumbbell_check.update_baseline(arguments.candidate, arguments.against, **common)))
        return 0
    for file in (arguments.markdown, arguments.junit):
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise UserError(f"{file}: cannot be written: it is a directory, or there is none to write it to")
    rest = {"most_runs": arguments.most_runs, "out": arguments.out, "identical": arguments.identical}
    rest["cost"] = arguments.cost
    results = dumbbell_check.check(arguments.candidate, against=arguments.against, **common, **rest)
    _write(arguments, results)
    if arguments.json:
        sys.stdout.write(to_json(results.as_json()))
    else:
        print("\n".join(map(printable, results.lines())))
        if arguments.annotations:
            print("\n".join(results.annotations()))
    if arguments.identical:
        return 0 if results.identical else 1
    return 1 if results.verdict == "worse" or (arguments.strict and results.verdict == "not resolved") else 0


def _write(arguments: argparse.Namespace, results: dumbbell_check.CheckResults) -> None:
    """Write the requested files."""
    try:
        if arguments.markdown is not None:
            with arguments.markdown.open("a", encoding="utf-8") as file:
                file.write(results.markdown())
        if arguments.junit is not None:
            arguments.junit.write_text(results.junit(arguments.strict), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {error.filename}: {error.strerror}") from None
