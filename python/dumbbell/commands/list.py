"""`dumbbell list`: what can be named on the command line."""

import sys
from typing import Any

import dumbbell
from dumbbell.commands.text import listing
from dumbbell.errors import printable
from dumbbell.json_text import to_json


def print_catalog(what: str, text: str, kind: str | None, as_json: bool, plugins: tuple[str, ...] = ()) -> int:
    """Prints what is listed of one sort: all of it, or what the text and the kind choose."""
    rows = dumbbell.listing(what, text, kind=kind, plugins=plugins)
    if as_json:
        sys.stdout.write(to_json(rows))
        return 0
    if not rows:
        print(f"none of the {what} has `{text}` in it", file=sys.stderr)
        return 0
    print(_table(what, rows))
    for row in rows:
        if row.get("missing"):
            print(printable(f"{row['name']} cannot run here: {row['missing']}"))
    return 0


_COLUMNS = {
    "schemes": ("name", "title", "kind", "here", "status", "transport", "source"),
    "paths": ("name", "title", "aliases"),
    "experiments": ("name", "runs", "duration_s", "flows", "title"),
    "metrics": ("level", "name", "unit", "convention", "formula"),
    "parameters": ("controller", "name", "default", "unit", "help"),
}


_TRANSPORTS = {"kernel": "kernel TCP", "bpf": "kernel TCP", "program": "its own"}
"""What carries schemes that are not run over our transport."""


def _table(what: str, rows: list[dict[str, Any]]) -> str:
    header = _COLUMNS[what]
    return listing(header, [[_field(key, row) for key in header] for row in rows], optional=("source",))


def _field(key: str, row: dict[str, Any]) -> str:
    value = row.get(key)
    if key == "transport":
        return _TRANSPORTS.get(row["kind"]) or str(row[key].get("profile", "tcp"))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
