"""One figure as a file, and its numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import Choice, count, value_range
from dumbbell.cli.options import convention_option, selection_options
from dumbbell.present.tables import Table, terminal

_FORMATS = ("svg", "pdf", "png", "tex")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("kind", nargs="?", metavar="KIND", help="without one: print the kinds and which options each takes")
    add("--out", type=Path, metavar="FILE", help=".svg, .pdf, .png, or .tex (a table); default: KIND.svg")
    add("--format", type=Choice(*_FORMATS), metavar="|".join(_FORMATS), help="without --out: KIND.FORMAT")
    add("--data", type=Path, metavar="FILE", help="the numbers, .csv or .json; default: FILE.csv beside the figure")
    selection_options(parser, "of which path, where there are several: one of them", "only these")
    add("--scheme", metavar="S", help="of a run: of which scheme or mix, where there are several")
    add("--run", type=count, metavar="N", help="of a run: which repetition (1)")
    convention_option(parser)
    content = parser.add_argument_group("what is drawn; each kind takes some of these")
    add = content.add_argument
    add("--x", metavar="M", help="metric across (delay); sweep, grid: axis of the grid across")
    add("--y", metavar="M", help="metric upwards (throughput); grid: axis of the grid upwards")
    add("--metric", metavar="M", help="metric, share:SCHEME (what it gets in a mix), or, of a run, a sampled field")
    add("--group-by", metavar="AXIS", help="axis of a grid: a line or a row for each of its values")
    add("--from", type=float, dest="from_s", metavar="S", help="of a run: from this second on")
    add("--to", type=float, dest="to_s", metavar="S", help="of a run: up to this second")
    add("--beside", type=Path, action="append", default=[], metavar="DIR", help="normalised: these results, too")
    add("--legacy", action="store_true", help="normalised: with the denominators of the Copa reproduction")
    range_help = (
        "grid: what the colours span, so that figures can be compared; default: the values drawn, or 0 to 100 %%"
    )
    add("--range", type=value_range, metavar="LOW,HIGH", help=range_help)
    paper = parser.add_argument_group("for paper")
    add = paper.add_argument
    add("--size", metavar="SIZE", help="1col (3.5 in wide), 2col (7.16 in), 88mm, 3.5x2.5in")
    add("--font", type=_points, metavar="PT", help="size of letters on paper, points; default with --size: 8")
    add("--theme", default="light", metavar="light|dark|print", help="print: black on white, no colour is needed")


def _points(text: str) -> float:
    try:
        return float(text.removesuffix("pt"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: allowed is a number of points, such as 8 or 8pt") from None


def main(arguments: argparse.Namespace) -> int:
    """Write a figure of the named run or path; without a kind list the kinds."""
    out, data, kind = arguments.out, arguments.data, arguments.kind
    results = dumbbell.open(arguments.directory, arguments.convention)
    if len(arguments.path) > 1:
        raise UserError(f"--path {','.join(arguments.path)}: a figure is of one path: choose one of these")
    if kind is None:
        head = ["kind", "of", "shows", "options"]
        print(terminal.render(Table.of(head, ([row[key] for key in head] for row in dumbbell.figure_kinds()))))
        return 0
    form = arguments.format
    if out and form and out.suffix != f".{form}":
        raise UserError(f"--format {form}: {out} ends in something else")
    out = out or Path(f"{kind}.{form or 'svg'}")
    if data is None:
        data = out.with_suffix(".csv")
        if data.exists() and not any(out.with_suffix(f".{suffix}").exists() for suffix in _FORMATS):
            raise UserError(f"{data}: exists already, and {out} does not: --data names another file for the numbers")
    dumbbell.check_figure_files(out, data)
    figure = results.figure(
        kind,
        arguments.path[0] if arguments.path else None,
        arguments.scheme,
        arguments.run,
        x=arguments.x,
        y=arguments.y,
        metric=arguments.metric,
        schemes=arguments.schemes,
        group_by=arguments.group_by,
        from_s=arguments.from_s,
        to_s=arguments.to_s,
        beside=arguments.beside,
        legacy=arguments.legacy,
        range=arguments.range,
        size=arguments.size,
        font_pt=arguments.font,
        theme=arguments.theme,
    )
    figure.save(out)
    figure.data.save(data)
    print(data)
    print(out)
    print(f"caption: {figure.caption}")
    return 0
