"""Print how many bytes results take, by kind of file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.json_text import to_json
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("directories", type=Path, nargs="+", metavar="DIR")
    add("--json", action="store_true", help="the same for programs")


def main(arguments: argparse.Namespace) -> int:
    """Prints the bytes of each directory by kind of file, and those of all; 0, as no size is a bad one."""
    opened = [dumbbell.open(directory) for directory in arguments.directories]
    found = [(str(results.directory), results.sizes()) for results in opened]
    of_all = {kind: sum(sizes[kind] for _, sizes in found) for kind in found[0][1]}
    if arguments.json:
        each = [{"directory": name} | _with_total(sizes) for name, sizes in found]
        sys.stdout.write(to_json({"directories": each} | _with_total(of_all)))
        return 0
    named = [*found, ("all", of_all)] if len(found) > 1 else found
    rows = [[name, *sizes.values(), sum(sizes.values())] for name, sizes in named]
    kinds = [kind.replace("_", " ") for kind in of_all]
    print(terminal.render(Table.of(["bytes in", *kinds, "total"], rows, "l")))
    return 0


def _with_total(sizes: dict[str, int]) -> dict[str, object]:
    return {"bytes": sizes, "total_bytes": sum(sizes.values())}
