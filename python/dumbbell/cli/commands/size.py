"""Print how many bytes results take, by kind of file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.json_text import to_json
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directories", type=Path, nargs="+", metavar="DIR")
    add("--json", action="store_true", help="the same for programs")


def main(arguments: argparse.Namespace) -> int:
    """Print the bytes of each directory by kind of file, and their sum; return 0."""
    all_results = [dumbbell.open(directory) for directory in arguments.directories]
    sizes_by_name = [(str(results.directory), results.sizes()) for results in all_results]
    of_all = {kind: sum(sizes[kind] for _, sizes in sizes_by_name) for kind in sizes_by_name[0][1]}
    if arguments.json:
        directories = [{"directory": name} | _with_total(sizes) for name, sizes in sizes_by_name]
        sys.stdout.write(to_json({"directories": directories} | _with_total(of_all)))
        return 0
    table_rows = [*sizes_by_name, ("all", of_all)] if len(sizes_by_name) > 1 else sizes_by_name
    rows = [[name, *sizes.values(), sum(sizes.values())] for name, sizes in table_rows]
    kinds = [kind.replace("_", " ") for kind in of_all]
    print(terminal.render(Table.of(["bytes in", *kinds, "total"], rows, "l")))
    return 0


def _with_total(sizes: dict[str, int]) -> dict[str, object]:
    return {"bytes": sizes, "total_bytes": sum(sizes.values())}
