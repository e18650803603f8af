"""Compare two results directories."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json
from dumbbell.cli.options import convention_option
from dumbbell.present.tables import Table, terminal
from dumbbell.present.tables.terminal import number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("first", type=Path, metavar="DIR_A")
    add("second", type=Path, metavar="DIR_B")
    convention_option(parser)
    add("--all", action="store_true", help="every metric, not only the main ones")
    add("--json", action="store_true")


def main(arguments: argparse.Namespace) -> int:
    """Print the differences of two results, metric by metric; return 1 if runs are damaged."""
    first = dumbbell.open(arguments.first, arguments.convention)
    second = dumbbell.open(arguments.second, arguments.convention)
    rows = dumbbell.compare(first, second, None) if arguments.all else dumbbell.compare(first, second)
    bad = [(side, run) for side in (first, second) for run in side.runs if run.status == "damaged"]
    damaged_runs = [f"{side.directory}: {run.label}: {run.reason}" for side, run in bad]
    for line in damaged_runs:
        print(printable(f"damaged: {line}"), file=sys.stderr)
    if arguments.json:
        sys.stdout.write(to_json({"a": str(arguments.first), "b": str(arguments.second), "rows": rows}))
        return 1 if damaged_runs else 0
    table = []
    for row in rows:
        entity = row["entity"] if row["entity"] == "network" else f"{row['entity']} {row['number']}"
        a, b = row["a"], row["b"]
        table.append(
            [
                *(row["path"], row["scheme"], entity, row["metric"]),
                *(_side(side) for side in (a, b)),
                "-" if row["difference"] is None else f"{row['difference']:+.4f}",
                "-" if row["relative"] is None else f"{row['relative']:+.1%}",
                "-" if row["low"] is None else f"[{row['low']:+.4f}, {row['high']:+.4f}]",
                _would_show(row),
                "-" if row["runs_for_effect"] is None else f"{row['runs_for_effect']} runs",
                row["verdict"],
            ]
        )
    head = [
        "path",
        "scheme",
        "of",
        "metric",
        "A",
        "B",
        "difference",
        "relative",
        "nominal 95 %",
        "would show",
        "3 % takes",
        "verdict",
    ]
    print(terminal.render(Table.of(head, table)))
    print(_tests_made(rows))
    return 1 if damaged_runs else 0


def _side(side: dumbbell.ComparedMean | None) -> str:
    """Return a mean as text; for a one-way delay between two clocks with the interval of the true mean."""
    mean = number(side["mean"] if side else None, 4)
    if side is None or "clocks" not in side:
        return mean
    low, high = side["clocks"]
    return f"{mean} clocks {number(low, 4)} to {number(high, 4)}"


def _would_show(row: dumbbell.Comparison) -> str:
    """Return the difference that the runs would have shown, in percent of A if A has a mean."""
    if row["would_show"] is None or row["a"] is None:
        return "-"
    base = abs(row["a"]["mean"])
    return f"{100.0 * row['would_show'] / base:.1f}%" if base else f"{row['would_show']:.4f}"


def _tests_made(rows: list[dumbbell.Comparison]) -> str:
    """Return a sentence about the method of the verdicts."""
    tests = [row for row in rows if row["p"] is not None]
    if not tests:
        chances = sorted({round(100.0 * row["apart_by_chance"]) for row in rows if row["apart_by_chance"] is not None})
        often = " to ".join(map(str, chances[:: max(1, len(chances) - 1)]))
        by_chance = f" Ranges of so few runs are apart by chance in {often} of 100 rows." if chances else ""
        return f"Ranges of the runs are compared: intervals and tests need five runs on either side.{by_chance}"
    pairs = sum(row["paired"] for row in tests)
    alone = sum(row["verdict"] == "different alone" for row in tests)
    return (
        f"{len(tests)} differences tested by Student's t, {pairs} in pairs of runs with the same seed; different: at "
        f"5 % for all of them together (Holm); different alone ({alone}): at 5 % for that row only.\n"
        "Would show: the difference that as many runs with as much scatter show in 80 of 100 cases; 3 % takes: the "
        "runs on either side that show a difference of 3 % of A so often."
    )
