#!/usr/bin/env python3
"""Write the schemas of TOML files and the references of their keys: `.venv/bin/python -m scripts.schemas [--check]`.

The files are `python/dumbbell/catalog/schema/*.json`, docs/reference/keys.md, and the tables of keys in
docs/reference/paths.md, all from the readers of TOML files. `--check` writes nothing; the exit
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
    """Return a number with separated thousands."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}".replace(",", " ")
    return f"{value:.10f}".rstrip("0")


def bounds(property_: Schema) -> str:
    """Return the limits of a number as text after a comma, or an empty string."""
    minimum, maximum, above, below = (
        property_.get(key) for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    )
    if minimum is not None and maximum is not None:
        return f", {number(minimum)} to {number(maximum)}"
    parts = [
        f"{word} {number(value)}"
        for word, value in (("at least", minimum), ("above", above), ("at most", maximum), ("below", below))
        if value is not None
    ]
    return f", {' and '.join(parts)}" if parts else ""


def several(singular: str) -> str:
    """Return the plural of a description of allowed values: `numbers, at least 0` of `a number, at least 0`."""
    noun, comma, rest = singular.partition(",")
    words = {"a number": "numbers", "a whole number": "whole numbers", "a text": "texts", "a table": "tables"}
    return words.get(noun, noun) + comma + rest


def allowed_text(property_: Schema, definitions: dict[str, Schema]) -> str:
    """Return a description of the allowed values of a key."""
    if "$ref" in property_:
        name = property_["$ref"].rsplit("/", 1)[1]
        return LINKS.get(name) or allowed_text(definitions[name], definitions)
    if "const" in property_:
        return f"`{property_['const']}`"
    if "enum" in property_:
        return ", ".join(f"`{value}`" for value in property_["enum"])
    for combination in ("allOf", "anyOf", "oneOf"):
        if combination in property_:
            return " or ".join(dict.fromkeys(allowed_text(option, definitions) for option in property_[combination]))
    if property_.get("type") == "array":
        items = property_.get("items", {})
        count = f"{property_['minItems']} " if "maxItems" in property_ else ""
        within = several(allowed_text(items, definitions)) if isinstance(items, dict) else "numbers"
        return f"a list of {count}{within}"
    words = {"number": "a number", "integer": "a whole number", "boolean": "true or false", "string": "a text"}
    kind = property_.get("type")
    if kind == "object":
        within = property_.get("additionalProperties")
        return f"a table of {several(allowed_text(within, definitions))}" if within else "a table"
    if not isinstance(kind, str):
        return "numbers, texts, true or false"
    return words[kind] + bounds(property_)


def default(key: str, property_: Schema, required_keys: list[str]) -> str:
    """Return the value of an absent key."""
    if key in required_keys:
        return "needed"
    return value_text(property_["default"]) if "default" in property_ else ""


def value_text(value: object) -> str:
    """Return a default as text for the tables; empty for None and for an empty list or table."""
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, dict):
        return f"`{value['kind']}`" if set(value) == {"kind"} else ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{value}`" if isinstance(value, str) else number(value) if isinstance(value, int | float) else str(value)


def keys(table: Schema, definitions: dict[str, Schema], leave_out: tuple[str, ...] = ()) -> str:
    """Return the table of the keys of a table, with the required keys first."""
    required_keys = table.get("required", [])
    order = sorted(table["properties"].items(), key=lambda item: item[0] not in required_keys)
    rows = [
        [
            f"`{key}`",
            allowed_text(property_, definitions),
            default(key, property_, required_keys),
            property_.get("description", ""),
        ]
        for key, property_ in order
        if key not in leave_out
    ]
    return markdown.render(Table.of(["key", "allowed", "default", "meaning"], rows))


PROFILES = ("tcp", "quic")
"""Profiles of the transport whose values the table of its keys shows; the first is the default."""


def transport_keys(table: Schema, definitions: dict[str, Schema]) -> str:
    """Return the table of the keys of a transport, with the value of each profile."""
    presets = [complete_transport({"profile": name}) for name in PROFILES]
    rows = [
        [
            f"`{key}`",
            allowed_text(property_, definitions),
            *(value_text(preset[key]) for preset in presets),
            property_.get("description", ""),
        ]
        for key, property_ in table["properties"].items()
    ]
    return markdown.render(Table.of(["key", "allowed", *(f"`{name}`" for name in PROFILES), "meaning"], rows))


def kinds(table: Schema, definitions: dict[str, Schema]) -> Iterator[str]:
    """Yield the sections of a table whose other keys depend on its `kind`."""
    for option in table.get("oneOf", table.get("anyOf", ())):
        if isinstance(option.get("properties", {}).get("kind"), dict):
            yield f"**`{option['properties']['kind']['const']}`**: {option.get('description', '')}"
            if len(option["properties"]) > 1:
                yield keys(option, definitions, ("kind",))


def of_axes(grid: Schema, definitions: dict[str, Schema]) -> Iterator[str]:
    """Yield the axes of a grid, and the keys of axes whose values are tables."""
    rows = [
        [f"`{name}`", allowed_text(axis["anyOf"][0], definitions), axis["description"]]
        for name, axis in grid["properties"].items()
    ]
    yield markdown.render(Table.of(["axis", "a value is", "meaning"], rows))
    for name, axis in grid["properties"].items():
        value = axis["anyOf"][0]
        if value.get("type") == "object" and name != "transport":
            yield f"Keys of a value of `{name}`:"
            yield keys(value, definitions)


def reference() -> str:
    """Return the page docs/reference/keys.md."""
    experiment, path, scheme = (schema(kind) for kind in ("experiment", "path", "scheme"))
    definitions = experiment["definitions"] | path["definitions"] | scheme["definitions"]
    properties = experiment["properties"]
    parts = [
        INTRODUCTION.rstrip(),
        "## Experiment",
        keys(experiment, definitions),
        "### Flow",
        "A table `[[flow]]`.",
        keys(definitions["Flow"], definitions),
        "Keys of `arrivals`:",
        keys(definitions["Flow"]["properties"]["arrivals"], definitions),
        "### Grid",
        "A table `[grid]`: each key is an axis, with one value or a list of them. "
        "A value that is a table may have a `label`.",
        *of_axes(definitions["Grid"], definitions),
        "### Benchmark",
        keys(properties["benchmark"], definitions),
        "### Quick",
        keys(properties["quick"], definitions),
        "### Published",
        "A table `[[published]]`. A number may be a table with the range of the runs instead.",
        keys(properties["published"]["items"], definitions),
        "### Cell",
        "Results keep these; nobody writes them.",
        keys(definitions["Cell"], definitions),
        "## Path",
        "A file of its own, or a table `[path.NAME]` of an experiment.",
        keys(path, definitions),
        "## Scheme",
        "A file of its own, or a table `[scheme.NAME]` of an experiment. "
        "`dumbbell list parameters` has the parameters of each controller.",
        keys(scheme, definitions),
        "### Program",
        "A table `[program]`.",
        keys(scheme["properties"]["program"], definitions),
        "### Transport",
        "A key that is absent has the value of the `profile`. The table shows the values of two profiles: `tcp`, which "
        "is the default and also called `linux-like`, and `quic`.",
        transport_keys(definitions["Config"], definitions),
        "### Receiver",
        *kinds(definitions["ReceiverBehavior"], definitions),
        "### Application",
        *kinds(definitions["FlowApplication"], definitions),
        "### Sizes of transfers",
        "Instead of a number of `bytes`, in the flows of an experiment:",
        *kinds(definitions["Sizes"], definitions),
    ]
    return "\n\n".join(parts) + "\n"


COMMON = ("kind", "name", "schedule", "walk")
"""Keys of every element."""


def paths_page(text: str) -> str:
    """Return docs/reference/paths.md with the tables of the keys of elements and queues."""
    definitions = schema("path")["definitions"]
    for element in definitions["ElementSpec"]["oneOf"]:
        kind = element["properties"]["kind"]["const"]
        table = keys(element, definitions, COMMON)
        if kind == "trace":
            of_even, of_poisson = (keys(definitions[name], definitions) for name in ("EvenSpec", "PoissonTraceSpec"))
            table += f"\n\nKeys of `even`:\n\n{of_even}\n\nKeys of `poisson`:\n\n{of_poisson}"
        text = with_block(text, f"keys of {kind}", table)
    queues = "\n\n".join(kinds(definitions["QueueSpec"], definitions))
    return with_block(text, "keys of queues", queues)


def main() -> int:
    """Write or compare the files."""
    files = {SHIPPED / f"{kind}.json": to_json(schema(kind)) for kind in FILES}
    files |= {KEYS: reference(), PATHS: paths_page(PATHS.read_text(encoding="utf-8"))}
    return write_or_compare(files, "scripts.schemas", "what is read")


if __name__ == "__main__":
    sys.exit(main())
