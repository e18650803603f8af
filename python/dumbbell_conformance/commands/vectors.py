"""The command `dumbbell vectors`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

import dumbbell_conformance
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import to_json

_SHOWN = 160
"""Number of printed characters of a line that differs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell vectors`."""
    add = parser.add_argument
    add("scheme", nargs="?", metavar="SCHEME", help="whose traces are written, or whose controller scripts drive")
    add("--out", type=Path, metavar="DIR", help="default: vectors-SCHEME")
    text = "compare what is in DIR with what comes out today"
    add("--check", dest="check_vectors", type=Path, metavar="DIR", help=text)
    add(
        "--run",
        nargs="*",
        metavar="SCRIPT",
        help="run scripts: files, directories, shipped ones (reno/slow-start, cubic) [default: all shipped ones]",
    )
    add("--list", action="store_true", help="print the names of the shipped scripts")
    add("--json", action="store_true", help="with --run: every event with all of its fields, and every condition")


def main(arguments: argparse.Namespace) -> int:
    """Write the vectors of a scheme, compare vectors or run scripts. Return 0 if all is as expected, else 1."""
    scheme, out, compare, scripts = arguments.scheme, arguments.out, arguments.check_vectors, arguments.run
    if arguments.json and scripts is None:
        raise UserError("--json: allowed with --run")
    if arguments.list:
        if any(value is not None for value in (scheme, out, compare, scripts)):
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
    applicable = [result for result in results if not result.not_applicable]
    return 0 if applicable and all(result.passed for result in applicable) else 1


def _outcome(result: dumbbell_conformance.ScriptResult) -> str:
    if result.not_applicable:
        return f"not applicable: {result.not_applicable}"
    held_count = sum(check.holds is True for check in result.checks)
    open_checks = [check for check in result.checks if check.holds is None]
    if result.failures:
        first = result.failures[0]
        source = f" ({first.source})" if first.source else ""
        return (
            f"line {first.line}, {first.time_s:g} s: expected {first.condition}, found {first.found}{source}; "
            f"{len(result.failures)} of {len(result.checks)} conditions fail"
        )
    about = "1 is about a field" if len(open_checks) == 1 else f"{len(open_checks)} are about fields"
    unreported_fields = f"{about} that {result.controller} does not report"
    if len(open_checks) == len(result.checks):
        return f"nothing was checked: {unreported_fields if open_checks else 'the script has no condition'}"
    known_failures = [check for check in result.checks if check.known is not None]
    differs = f"; line {known_failures[0].line} fails as known: {known_failures[0].known}" if known_failures else ""
    left_out = f", {unreported_fields}" if open_checks else ""
    return f"{held_count} {'condition holds' if held_count == 1 else 'conditions hold'}{differs}{left_out}"


def _compare(directory: Path) -> int:
    differences = dumbbell_conformance.check_vectors(directory)
    for name, first in differences.items():
        if first is None:
            print(printable(f"{name}: the same"))
        else:
            print(printable(f"{name}: differs: {first.file}, line {first.line}"))
            print(f"  there: {printable(first.stored[:_SHOWN])}\n  now:   {printable(first.now[:_SHOWN])}")
    return 1 if any(differences.values()) else 0
