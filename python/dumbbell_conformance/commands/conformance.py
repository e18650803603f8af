"""The command `dumbbell conformance`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
import dumbbell_conformance
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import Suggestion, count, names
from dumbbell.present.tables import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell conformance`."""
    add = parser.add_argument
    add(
        "suite",
        type=Suggestion(*dumbbell.conformance_suites()),
        metavar="SUITE",
        help="bbr, cubic, reno, prague, ledbat, rfc9743 or safety",
    )
    add(
        "--schemes",
        type=names,
        default=(),
        metavar="A[,B]",
        help="the schemes to check; default: those that the suite is about",
    )
    add(
        "--against",
        metavar="BASELINE",
        help="another version of the scheme, or a file of --freeze: only checks that fail now and did not there count",
    )
    add("--freeze", type=Path, metavar="FILE", help="write the verdicts: with --against FILE their failures are known")
    add("--case", dest="cases", type=names, default=(), metavar="N[,N]", help="only these cases: 3, 7a")
    add(
        "--backend",
        default="sim",
        metavar="B",
        help="sim, or emu for kernel controllers and programs: cases that packets alone show",
    )
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor")
    add("--out", type=Path, metavar="DIR", help="a new directory for the runs; default: one below results")
    add("--markdown", type=Path, metavar="FILE", help="write the matrix and the reasons as Markdown")
    add("--json", action="store_true", help="every figure as JSON on stdout")


def main(arguments: argparse.Namespace) -> int:
    """Print the matrix and the reasons.

    Return 1 if a case failed; with --against, if a check failed that did not before.
    """
    page = arguments.markdown
    for option, file in (("--markdown", page), ("--freeze", arguments.freeze)):
        if file is not None and not file.parent.is_dir():
            raise UserError(f"{option} {file}: no such directory: {file.parent}")
    try:
        result = dumbbell_conformance.check_conformance(
            arguments.suite,
            schemes=arguments.schemes,
            cases=arguments.cases,
            against=arguments.against,
            backend=arguments.backend,
            jobs=arguments.jobs,
            out=arguments.out,
            command=sys.argv,
        )
    except dumbbell.Interrupted as stopped:
        print(printable(f"dumbbell: {stopped}"), file=sys.stderr)
        return 1
    if page is not None:
        try:
            page.write_text(result.markdown(), encoding="utf-8")
        except OSError as error:
            raise UserError(f"--markdown {page}: {one_line(error)}") from None
    if arguments.freeze is not None:
        result.freeze(arguments.freeze)
    if arguments.json:
        sys.stdout.write(to_json(result.as_json()))
    else:
        print(terminal.fit(result.table()))
        for line in result.reasons:
            print(printable(line))
        for change in result.changes or ():
            print(printable(f"{'new failure' if change.is_worse else 'changed'}: {change}"))
        print(printable(f"{result.counts}; the runs are in {result.directory}"))
    return 0 if result.good else 1
