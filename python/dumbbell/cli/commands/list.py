"""Print what can be named."""

from __future__ import annotations

import argparse
import sys

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import Choice
from dumbbell.cli.options import plugin_option
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from dumbbell.api.listing import LISTED

    add = parser.add_argument
    add("what", type=Choice(*LISTED), metavar="|".join(LISTED))
    add(
        "text",
        nargs="*",
        metavar="TEXT",
        help="only those that have all these words somewhere; a plug-in's file: its own",
    )
    add("--kind", metavar="KIND", help="schemes: only those of a kind: core, kernel, bpf, program, plugin, python")
    plugin_option(parser)
    add("--json", action="store_true", help="everything that is known of each, for programs")


_COLUMNS = {
    "schemes": ("name", "title", "kind", "here", "status", "transport", "source"),
    "paths": ("name", "title", "aliases"),
    "experiments": ("name", "runs", "duration_s", "flows", "title"),
    "metrics": ("level", "name", "unit", "convention", "formula"),
    "parameters": ("controller", "name", "default", "unit", "help"),
    "suites": ("name", "title", "cells"),
}


_TRANSPORTS = {"kernel": "kernel TCP", "bpf": "kernel TCP", "program": "its own"}
"""Transport of schemes that do not use the built-in transport."""


def main(arguments: argparse.Namespace) -> int:
    """Print the listed items of one sort, or those that match the text and the kind."""
    sort, text = arguments.what, " ".join(arguments.text)
    rows = dumbbell.listing(sort, text, kind=arguments.kind, plugins=tuple(arguments.plugins))
    if arguments.json:
        sys.stdout.write(to_json(rows))
        return 0
    if not rows:
        print(f"none of the {sort} has `{text}` in it", file=sys.stderr)
        return 0
    print(_table(sort, rows))
    for row in rows:
        if row.get("missing"):
            print(printable(f"{row['name']} cannot run here: {row['missing']}"))
    return 0


def _table(sort: str, rows: list[dumbbell.Listed]) -> str:
    header = _COLUMNS[sort]
    table = Table.of(header, ([_field(key, row) for key in header] for row in rows))
    return terminal.fit(table, optional=("source",))


def _field(key: str, row: dumbbell.Listed) -> str:
    value = row.get(key)
    if key == "transport":
        return _TRANSPORTS.get(row["kind"]) or str(row[key].get("profile", "tcp"))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
