"""`dumbbell list`: what can be named on the command line."""

import json
import sys
from collections.abc import Callable
from typing import Any

from dumbbell import _core, catalog
from dumbbell.catalog.available import missing
from dumbbell.catalog.scheme import Scheme
from dumbbell.commands.text import columns
from dumbbell.json_text import to_json
from dumbbell.plugins.schemes import given_schemes


def print_catalog(kind: str, as_json: bool, plugins: tuple[str, ...] = ()) -> int:
    """Prints everything of one kind; schemes and parameters also those of plug-ins."""
    outside = [scheme for text in plugins for scheme in given_schemes(text)]
    listed: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "schemes": lambda: _schemes(outside),
        "paths": _paths,
        "experiments": _experiments,
        "metrics": lambda: json.loads(_core.metrics()),
        "parameters": lambda: _parameters(outside),
    }
    rows = listed[kind]()
    if as_json:
        sys.stdout.write(to_json(rows))
    else:
        print(_table(kind, rows))
        for row in rows:
            if row.get("missing"):
                print(f"{row['name']} cannot run here: {row['missing']}")
    return 0


def _schemes(outside: list[Scheme]) -> list[dict[str, Any]]:
    rows = []
    for item in (*catalog.schemes(), *outside):
        reason = missing(item)
        here = {"here": "no" if reason else "yes", "missing": reason}
        rows.append({"name": item.name, "aliases": list(item.aliases)} | item.table() | here)
    return rows


def _paths() -> list[dict[str, Any]]:
    return [{"name": item.name, "aliases": list(item.aliases)} | item.table() for item in catalog.paths()]


def _experiments() -> list[dict[str, Any]]:
    keys = ("name", "title", "schemes", "mixes", "paths", "runs", "duration_s", "flows", "interval_s")
    return [
        {"aliases": list(item.aliases)} | {key: getattr(item, key) for key in keys} for item in catalog.experiments()
    ]


def _parameters(outside: list[Scheme]) -> list[dict[str, Any]]:
    """Every parameter of every controller, as `--set SCHEME.NAME=VALUE` takes it."""
    from dumbbell.plugins.isolated import describe

    rows = []
    described = [item for scheme in outside for item in describe(scheme.code) if item["name"] == scheme.controller]
    for controller in (*json.loads(_core.controllers()), *described):
        rows += [{"controller": controller["name"]} | parameter for parameter in controller["parameters"]]
    return rows


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
