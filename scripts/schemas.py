#!/usr/bin/env python3
"""Writes the schemas of TOML files and the references of their keys: `.venv/bin/python -m scripts.schemas [--check]`.

These are `python/dumbbell/catalog/schema/*.json`, docs/reference/keys.md, and the tables of keys in
docs/reference/paths.md, all made from what the readers of these files say. With `--check` nothing is written; the exit
status is 1 if a file differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dumbbell.base.json_text import to_json
from dumbbell.catalog.schema.files import FILES, SHIPPED, schema
from dumbbell.core.paths import complete_transport
from dumbbell.present.tables import Table, markdown
from scripts.blocks import with_block
from scripts.generated import write_or_compare

ROOT = Path(__file__).parent.parent
KEYS, PATHS = ROOT / "docs" / "reference" / "keys.md", ROOT / "docs" / "reference" / "paths.md"

Schema = dict[str, Any]

INTRODUCTION = """\
# Keys of TOML files

Written by `python -m scripts.schemas` from the readers of these files. Do not edit.

Every key of an [experiment](#experiment), a [scheme](#scheme) and a [path](#path). The elements of paths and
their queues are in [paths](paths.md#elements). Unknown keys are errors. A key without a default that is not
"needed" may be absent.

## In an editor

`dumbbell schema path --out path.schema.json` writes the same as a JSON Schema (draft-07); `experiment` and
`scheme` likewise. An editor that knows TOML schemas then completes keys, shows what they mean, and marks what
is not allowed while you type. The first line of the file names the schema:

```text
#:schema ./path.schema.json
```

[tombi](https://tombi-toml.github.io/tombi/) reads that line as a language server (for VS Code, Zed, Neovim,
Emacs) and on the command line (`tombi lint --offline mine.toml`); so does taplo. `dumbbell schema path
--where` prints the name of the file that is installed: an absolute name after `#:schema` needs no copy. A
schema knows one key at a time. What depends on several, such as `lasts_ms` below `every_ms`, is refused when
the file is read.
"""

LINKS = {
    "ElementSpec": "[elements](paths.md#elements)",
    "QueueSpec": "a [queue](paths.md#queues)",
    "Config": "a table: [transport](#transport)",
    "ApplicationSpec": "a table: [application](#application)",
    "FlowApplication": "a table: [application](#application)",
    "Sizes": "a table: [sizes](#sizes-of-transfers)",
    "ReceiverBehavior": "a table: [receiver](#receiver)",
    "Flow": "[flows](#flow)",
    "Grid": "a table: [grid](#grid)",
    "Scheme": "[schemes](#scheme)",
    "Path": "[paths](#path)",
    "Cell": "[cells](#cell)",
    "Change": "[changes](paths.md#schedules)",
    "WalkSpec": "a table: [walks](paths.md#random-walks)",
    "EvenSpec": "a table, see below",
    "PoissonTraceSpec": "a table, see below",
}
"""Links to the sections of tables that have their own, by definition."""


def number(value: float) -> str:
    """A number with its thousands apart."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}".replace(",", " ")
    return f"{value:.10f}".rstrip("0")


def bounds(one: Schema) -> str:
    """The limits of a number, behind a comma, or nothing."""
    least, most, above, below = (one.get(key) for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
    if least is not None and most is not None:
        return f", {number(least)} to {number(most)}"
    parts = [
        f"{word} {number(value)}"
        for word, value in (("at least", least), ("above", above), ("at most", most), ("below", below))
        if value is not None
    ]
    return f", {' and '.join(parts)}" if parts else ""


def several(one: str) -> str:
    """Return the plural of what is allowed: `numbers, at least 0` of `a number, at least 0`."""
    noun, comma, rest = one.partition(",")
    words = {"a number": "numbers", "a whole number": "whole numbers", "a text": "texts", "a table": "tables"}
    return words.get(noun, noun) + comma + rest


def allowed(one: Schema, definitions: dict[str, Schema]) -> str:
    """Return what a key takes, in words."""
    if "$ref" in one:
        name = one["$ref"].rsplit("/", 1)[1]
        return LINKS.get(name) or allowed(definitions[name], definitions)
    if "const" in one:
        return f"`{one['const']}`"
    if "enum" in one:
        return ", ".join(f"`{value}`" for value in one["enum"])
    for joined in ("allOf", "anyOf", "oneOf"):
        if joined in one:
            return " or ".join(dict.fromkeys(allowed(each, definitions) for each in one[joined]))
    if one.get("type") == "array":
        items = one.get("items", {})
        count = f"{one['minItems']} " if "maxItems" in one else ""
        within = several(allowed(items, definitions)) if isinstance(items, dict) else "numbers"
        return f"a list of {count}{within}"
    words = {"number": "a number", "integer": "a whole number", "boolean": "true or false", "string": "a text"}
    kind = one.get("type")
    if kind == "object":
        within = one.get("additionalProperties")
        return f"a table of {several(allowed(within, definitions))}" if within else "a table"
    if not isinstance(kind, str):
        return "numbers, texts, true or false"
    return words[kind] + bounds(one)


def default(key: str, one: Schema, needed: list[str]) -> str:
    """Return the value that holds where the key is absent."""
    if key in needed:
        return "needed"
    return written(one["default"]) if "default" in one else ""


def written(value: object) -> str:
    """Return a default as the tables show it: nothing for None and for an empty list or table."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, dict):
        return f"`{value['kind']}`" if set(value) == {"kind"} else ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{value}`" if isinstance(value, str) else number(value) if isinstance(value, int | float) else str(value)


def keys(table: Schema, definitions: dict[str, Schema], leave_out: tuple[str, ...] = ()) -> str:
    """The table of the keys of a table: those that are needed first."""
    needed = table.get("required", [])
    order = sorted(table["properties"].items(), key=lambda item: item[0] not in needed)
    rows = [
        [f"`{key}`", allowed(one, definitions), default(key, one, needed), one.get("description", "")]
        for key, one in order
        if key not in leave_out
    ]
    return markdown.render(Table.of(["key", "allowed", "default", "meaning"], rows))


PROFILES = ("tcp", "quic")
"""Profiles of the transport whose values the table of its keys shows; the first is the default."""


def transport_keys(table: Schema, definitions: dict[str, Schema]) -> str:
    """Return the table of the keys of a transport, with the value that each profile has."""
    presets = [complete_transport({"profile": name}) for name in PROFILES]
    rows = [
        [f"`{key}`", allowed(one, definitions), *(written(each[key]) for each in presets), one.get("description", "")]
        for key, one in table["properties"].items()
    ]
    return markdown.render(Table.of(["key", "allowed", *(f"`{name}`" for name in PROFILES), "meaning"], rows))


def kinds(table: Schema, definitions: dict[str, Schema]) -> Iterator[str]:
    """The sections of a table whose other keys depend on its `kind`."""
    for one in table.get("oneOf", table.get("anyOf", ())):
        if isinstance(one.get("properties", {}).get("kind"), dict):
            yield f"**`{one['properties']['kind']['const']}`**: {one.get('description', '')}"
            if len(one["properties"]) > 1:
                yield keys(one, definitions, ("kind",))


def of_axes(grid: Schema, definitions: dict[str, Schema]) -> Iterator[str]:
    """The axes of a grid, and the keys of those whose values are tables."""
    rows = [
        [f"`{name}`", allowed(one["anyOf"][0], definitions), one["description"]]
        for name, one in grid["properties"].items()
    ]
    yield markdown.render(Table.of(["axis", "a value is", "meaning"], rows))
    for name, one in grid["properties"].items():
        value = one["anyOf"][0]
        if value.get("type") == "object" and name != "transport":
            yield f"Keys of a value of `{name}`:"
            yield keys(value, definitions)


def reference() -> str:
    """The page docs/reference/keys.md."""
    experiment, path, scheme = (schema(kind) for kind in ("experiment", "path", "scheme"))
    found = experiment["definitions"] | path["definitions"] | scheme["definitions"]
    of = experiment["properties"]
    parts = [
        INTRODUCTION.rstrip(),
        "## Experiment",
        keys(experiment, found),
        "### Flow",
        "A table `[[flow]]`.",
        keys(found["Flow"], found),
        "Keys of `arrivals`:",
        keys(found["Flow"]["properties"]["arrivals"], found),
        "### Grid",
        "A table `[grid]`: each key is an axis, with one value or a list of them. "
        "A value that is a table may have a `label`.",
        *of_axes(found["Grid"], found),
        "### Benchmark",
        keys(of["benchmark"], found),
        "### Quick",
        keys(of["quick"], found),
        "### Published",
        "A table `[[published]]`. A number may be a table with the range of the runs instead.",
        keys(of["published"]["items"], found),
        "### Cell",
        "Results keep these; nobody writes them.",
        keys(found["Cell"], found),
        "## Path",
        "A file of its own, or a table `[path.NAME]` of an experiment.",
        keys(path, found),
        "## Scheme",
        "A file of its own, or a table `[scheme.NAME]` of an experiment. "
        "`dumbbell list parameters` has the parameters of each controller.",
        keys(scheme, found),
        "### Program",
        "A table `[program]`.",
        keys(scheme["properties"]["program"], found),
        "### Transport",
        "A key that is absent has the value of the `profile`. The table shows the values of two profiles: `tcp`, which "
        "is the default and also called `linux-like`, and `quic`.",
        transport_keys(found["Config"], found),
        "### Receiver",
        *kinds(found["ReceiverBehavior"], found),
        "### Application",
        *kinds(found["FlowApplication"], found),
        "### Sizes of transfers",
        "Instead of a number of `bytes`, in the flows of an experiment:",
        *kinds(found["Sizes"], found),
    ]
    return "\n\n".join(parts) + "\n"


COMMON = ("kind", "name", "schedule", "walk")
"""Keys that every element has."""


def paths_page(text: str) -> str:
    """docs/reference/paths.md with the tables of the keys of elements and queues."""
    found = schema("path")["definitions"]
    for element in found["ElementSpec"]["oneOf"]:
        kind = element["properties"]["kind"]["const"]
        table = keys(element, found, COMMON)
        if kind == "trace":
            of_even, of_poisson = (keys(found[name], found) for name in ("EvenSpec", "PoissonTraceSpec"))
            table += f"\n\nKeys of `even`:\n\n{of_even}\n\nKeys of `poisson`:\n\n{of_poisson}"
        text = with_block(text, f"keys of {kind}", table)
    queues = "\n\n".join(kinds(found["QueueSpec"], found))
    return with_block(text, "keys of queues", queues)


def main() -> int:
    """Writes the files, or compares them."""
    files = {SHIPPED / f"{kind}.json": to_json(schema(kind)) for kind in FILES}
    files |= {KEYS: reference(), PATHS: paths_page(PATHS.read_text(encoding="utf-8"))}
    return write_or_compare(files, "scripts.schemas", "what is read")


if __name__ == "__main__":
    sys.exit(main())
