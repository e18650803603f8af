"""One figure as a file, and its numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import count
from dumbbell.cli.options import convention_option
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("kind", nargs="?", metavar="KIND", help="without one: print the kinds")
    add("--out", type=Path, metavar="FILE", help=".svg, .pdf or .png; default: KIND.svg")
    add("--data", type=Path, metavar="FILE", help="the numbers, .csv or .json; default: FILE.csv beside the figure")
    add("--path", metavar="P", help="of which path, where there are several")
    add("--scheme", metavar="S", help="of a run: of which scheme or mix, where there are several")
    add("--run", type=count, metavar="N", help="of a run: which repetition (1)")
    convention_option(parser)
    add("--beside", type=Path, action="append", default=[], metavar="DIR", help="normalised: these results, too")
    add("--legacy", action="store_true", help="normalised: with the denominators of the Copa reproduction")


def main(arguments: argparse.Namespace) -> int:
    """Writes a figure of the run or path that is named; without a kind lists the kinds."""
    out, data, kind = arguments.out, arguments.data, arguments.kind
    results = dumbbell.open(arguments.directory, arguments.convention)
    if kind is None:
        head = ["kind", "of", "shows"]
        print(terminal.render(Table.of(head, ([row[key] for key in head] for row in dumbbell.figure_kinds()))))
        return 0
    out = out or Path(f"{kind}.svg")
    if data is None:
        data = out.with_suffix(".csv")
        if data.exists() and not out.exists():
            raise UserError(f"{data}: exists already, and {out} does not: --data names another file for the numbers")
    dumbbell.check_figure_files(out, data)
    of = (arguments.path, arguments.scheme, arguments.run)
    drawn = results.figure(kind, *of, beside=arguments.beside, legacy=arguments.legacy)
    drawn.save(out)
    drawn.data.save(data)
    print(data)
    print(out)
    return 0
