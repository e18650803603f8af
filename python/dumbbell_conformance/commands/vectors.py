"""Golden traces of a controller and scripts that drive one, for its implementers."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

import dumbbell_conformance
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json

_SHOWN = 160
"""Letters of a line that differs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("scheme", nargs="?", metavar="SCHEME", help="whose traces are written, or whose controller scripts drive")
    add("--out", type=Path, metavar="DIR", help="default: vectors-SCHEME")
    told = "compare what is in DIR with what comes out today"
    add("--check", dest="check_vectors", type=Path, metavar="DIR", help=told)
    add(
        "--run",
        nargs="*",
        metavar="SCRIPT",
        help="run scripts: files, directories, shipped ones (reno/slow-start, cubic) [default: all shipped ones]",
    )
    add("--list", action="store_true", help="print the names of the shipped scripts")
    add("--json", action="store_true", help="with --run: every event with all of its fields, and every condition")


def main(arguments: argparse.Namespace) -> int:
    """Writes the vectors of a scheme (0), compares those in a directory or runs scripts: 0 if all is as expected."""
    scheme, out, compare, scripts = arguments.scheme, arguments.out, arguments.check_vectors, arguments.run
    if arguments.json and scripts is None:
        raise UserError("--json: allowed with --run")
    if arguments.list:
        if any(given is not None for given in (scheme, out, compare, scripts)):
            raise UserError("--list prints the shipped scripts: no other option is allowed")
        print("\n".join(dumbbell_conformance.shipped_scripts()))
        return 0
    if scripts is not None:
        if out is not None or compare is not None:
            raise UserError("--run: allowed without --out and --check")
        return _run(scripts, scheme, arguments.json)
    if compare is not None:
        if scheme is not None:
            raise UserError(f"--check compares all that is in {compare}: no scheme `{scheme}` is needed")
        if out is not None:
            raise UserError("--out: allowed when vectors are written, not with --check")
        return _compare(compare)
    if scheme is None:
        raise UserError("vectors: name a scheme, or give --check DIR or --run SCRIPT")
    for folder in dumbbell_conformance.write_vectors(scheme, out or Path(f"vectors-{Path(scheme).stem}")):
        print(printable(folder))
    return 0


def _run(scripts: list[str], scheme: str | None, as_json: bool) -> int:
    results = dumbbell_conformance.run_scripts(scripts, scheme, steps=as_json)
    if as_json:
        sys.stdout.write(to_json([asdict(result) for result in results]))
    else:
        for result in results:
            print(printable(f"{result.name}: {_outcome(result)}"))
            for note in result.notes:
                print(printable(f"note: {result.name}: left out: {note}"), file=sys.stderr)
    judged = [result for result in results if not result.not_applicable]
    return 0 if judged and all(result.passed for result in judged) else 1


def _outcome(result: dumbbell_conformance.ScriptResult) -> str:
    if result.not_applicable:
        return f"not applicable: {result.not_applicable}"
    held = sum(check.holds is True for check in result.checks)
    skipped = [check for check in result.checks if check.holds is None]
    if result.failures:
        first = result.failures[0]
        source = f" ({first.source})" if first.source else ""
        return (
            f"line {first.line}, {first.time_s:g} s: expected {first.condition}, found {first.found}{source}; "
            f"{len(result.failures)} of {len(result.checks)} conditions fail"
        )
    about = "1 is about a field" if len(skipped) == 1 else f"{len(skipped)} are about fields"
    unreported = f"{about} that {result.controller} does not report"
    if len(skipped) == len(result.checks):
        return f"nothing was checked: {unreported if skipped else 'the script has no condition'}"
    known = [check for check in result.checks if check.known is not None]
    differs = f"; line {known[0].line} fails as known: {known[0].known}" if known else ""
    left_out = f", {unreported}" if skipped else ""
    return f"{held} {'condition holds' if held == 1 else 'conditions hold'}{differs}{left_out}"


def _compare(directory: Path) -> int:
    differences = dumbbell_conformance.check_vectors(directory)
    for name, found in differences.items():
        if found is None:
            print(printable(f"{name}: the same"))
        else:
            print(printable(f"{name}: differs: {found.file}, line {found.line}"))
            print(f"  there: {printable(found.stored[:_SHOWN])}\n  now:   {printable(found.now[:_SHOWN])}")
    return 1 if any(differences.values()) else 0
