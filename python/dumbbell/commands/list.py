"""`dumbbell list`: what can be named on the command line."""

import sys
from collections.abc import Callable
from typing import Any

import dumbbell
from dumbbell.commands.text import columns
from dumbbell.errors import printable
from dumbbell.json_text import to_json


def print_catalog(kind: str, as_json: bool, plugins: tuple[str, ...] = ()) -> int:
    """Prints everything of one kind; schemes and parameters also those of plug-ins."""
    listed: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "schemes": lambda: _schemes(plugins),
        "paths": _paths,
        "experiments": _experiments,
        "metrics": dumbbell.metrics,
        "parameters": lambda: dumbbell.parameters(plugins),
    }
    rows = listed[kind]()
    if as_json:
        sys.stdout.write(to_json(rows))
    else:
        print(_table(kind, rows))
        for row in rows:
            if row.get("missing"):
                print(printable(f"{row['name']} cannot run here: {row['missing']}"))
    return 0


def _schemes(plugins: tuple[str, ...]) -> list[dict[str, Any]]:
    rows = []
    for item in (*dumbbell.schemes(), *dumbbell.plugin_schemes(plugins)):
        reason = dumbbell.missing(item)
        here = {"here": "no" if reason else "yes", "missing": reason}
        rows.append({"name": item.name, "aliases": list(item.aliases)} | item.table() | here)
    return rows


def _paths() -> list[dict[str, Any]]:
    return [{"name": item.name, "aliases": list(item.aliases)} | item.table() for item in dumbbell.paths()]


def _experiments() -> list[dict[str, Any]]:
    keys = ("name", "title", "schemes", "mixes", "paths", "runs", "duration_s", "flows", "interval_s")
    return [
        {"aliases": list(item.aliases)} | {key: getattr(item, key) for key in keys} for item in dumbbell.experiments()
    ]


_COLUMNS = {
    "schemes": ("name", "title", "kind", "here", "status", "transport", "source"),
    "paths": ("name", "title", "aliases"),
    "experiments": ("name", "runs", "duration_s", "flows", "title"),
    "metrics": ("level", "name", "unit", "convention", "formula"),
    "parameters": ("controller", "name", "default", "unit", "help"),
}


_TRANSPORTS = {"kernel": "kernel TCP", "bpf": "kernel TCP", "program": "its own"}
"""What carries schemes that are not run over our transport."""


def _table(kind: str, rows: list[dict[str, Any]]) -> str:
    header = _COLUMNS[kind]
    return columns(header, [[_field(key, row) for key in header] for row in rows])


def _field(key: str, row: dict[str, Any]) -> str:
    value = row.get(key)
    if key == "transport":
        return _TRANSPORTS.get(row["kind"]) or str(row[key].get("profile", "tcp"))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
