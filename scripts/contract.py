#!/usr/bin/env python3
"""Writes the types of the JSON that the core takes and returns: `.venv/bin/python -m scripts.contract [--check]`.

These are `python/dumbbell/contract/{specification,statistics}.json`, as the core's structures say them (serde and
schemars), and beside each a module of typed, read-only tables made of it. With `--check` nothing is written; the exit
status is 1 if a file differs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.json_text import to_json
from dumbbell.core.metrics import labels, metric_definitions
from dumbbell.core.schemas import run_schema, statistics_schema
from scripts.generated import write_or_compare

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "python" / "dumbbell" / "contract"
WIDTH = 120

Schema = dict[str, Any]

HEAD = '''\
"""{what}

Written by `python -m scripts.contract` from {file}. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

from dumbbell.contract.read_only import ReadOnly
'''
SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
NAMES = {"Config": "TransportSpec"}
"""Names of the core's definitions that say nothing outside of their crate."""
ENDS = ("Spec", "Behavior")
"""Ends of names of which the table of a kind has none: `LinkElement` is an `ElementSpec`."""
LEVELS = {"FlowStats": "flow", "LinkStats": "link", "NetworkStats": "network"}
GROUPS = {"AckLinkStats": "acklink.", "MediaStats": "media.", "Completion": "completions."}
"""Where the metrics of a table are defined: by level, or by the beginning of their names."""


IDENTITY = ("flow", "scheme", "link", "direction", "bytes", "flows")
"""Keys of every table of metrics. Results of an earlier version lack the metrics that were defined since."""
KEPT = {
    "BetweenMachines": ("channel", "flows"),
    "Carried": ("guarded",),
    "Compared": ("uncertainty_ms",),
    "EmulationReport": ("lateness_us", "tx_dropped"),
    "EndReport": ("wait_p99_us",),
    "Judged": (),
    "LatenessError": (),
    "LatenessReport": ("p50", "p90", "p99", "p999", "max", "bound", "packets"),
    "ProgramReport": ("flow", "side"),
    "Punctuality": (),
}
"""Keys that these tables have in results of every version."""


def named(name: str) -> str:
    """Return the name of a definition in Python."""
    return NAMES.get(name, name)


def variant(kind: str, name: str) -> str:
    """Return the name of the table of a kind: `LinkElement`."""
    end = next((end for end in ENDS if name.endswith(end)), "")
    return "".join(part.capitalize() for part in re.split(r"[-_]", kind)) + name.removesuffix(end)


def union(kinds: list[str]) -> str:
    """Return the type that is one of these, None last."""
    once = list(dict.fromkeys(kinds))
    return " | ".join(sorted(once, key=lambda kind: kind == "None"))


def kind_of(schema: Schema) -> str:
    """Return the type that a part of a schema describes."""
    if "$ref" in schema:
        return named(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]"
    if "enum" in schema:
        texts = [json.dumps(each) for each in schema["enum"] if each is not None]
        return union([f"Literal[{', '.join(texts)}]", *(["None"] if None in schema["enum"] else [])])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return union([kind_of(each) for each in schema[several]])
    kinds = schema.get("type")
    if kinds is None:
        return "object"
    return union([_simple(kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds])])


def _measured(schema: Schema) -> str:
    """Return the type of a metric: null where a log lacks what it needs, and any number in files of other tools."""
    kinds = kind_of(schema).split(" | ")
    return union([*kinds, *(["float"] if "int" in kinds else []), "None"])


def _simple(kind: str, schema: Schema) -> str:
    if kind == "array":
        items = schema["items"]  # of a tuple: a list
        each = [kind_of(one) for one in (items if isinstance(items, list) else [items])]
        return f"Sequence[{union(each)}]"
    if kind == "object":
        others = schema.get("additionalProperties", True)
        own = [kind_of(each) for each in schema.get("properties", {}).values()]
        return f"Mapping[str, {union([*([kind_of(others)] if isinstance(others, dict) else []), *own]) or 'object'}]"
    return SIMPLE[kind]


def documented(text: str, indent: str = "") -> Iterator[str]:
    """Yield the lines of a docstring."""
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    whole = f'{indent}"""{paragraphs[0]}"""'
    if len(paragraphs) == 1 and len(whole) <= WIDTH:
        yield whole
        return
    lines = [textwrap.wrap(each, WIDTH - len(indent) - 3) for each in paragraphs]
    yield f'{indent}"""' + lines[0][0]
    for number, paragraph in enumerate(lines):
        if number:
            yield ""
        yield from (f"{indent}{line}" for line in paragraph[0 if number else 1 :])
    yield f'{indent}"""'


def table(name: str, schema: Schema, told: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a table with its keys; `told` says what those mean that the schema does not describe."""
    yield f"class {name}(TypedDict):"
    yield from documented(schema.get("description", "A table."), "    ")
    yield ""
    required = IDENTITY if told else KEPT.get(name, schema.get("required", ()))
    for key, each in sorted(schema["properties"].items(), key=lambda each: each[0] != "kind"):
        kind = f"ReadOnly[{kind_of(each) if key in required or not told else _measured(each)}]"
        yield f"    {key}: {kind if key in required else f'NotRequired[{kind}]'}"
        says = [each.get("description") or told.get(key, ""), _limits(each)]
        if any(says):
            yield from documented(" ".join(filter(None, says)), "    ")
    yield ""
    yield ""


def _limits(schema: Schema) -> str:
    """Return the default and the limits of a value as sentences."""
    default = schema.get("default")
    parts = [] if default in (None, "", {}, []) else [f"Default: {json.dumps(default)}."]
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if high is not None and low is not None:
        beside = " (not included)" if "exclusiveMinimum" in schema or "exclusiveMaximum" in schema else ""
        parts.append(f"From {low:g} to {high:g}{beside}.")
    return " ".join(parts)


def definition(name: str, schema: Schema, told: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a definition: a table, one of several tables, or texts."""
    several = schema.get("oneOf", ())
    if several and all("properties" in each for each in several):
        names = []
        for each in several:
            names.append(variant(each["properties"]["kind"]["const"], name))
            yield from table(names[-1], each, told)
        yield from _alias(named(name), union(names), schema)
    elif several and all("const" in each for each in several):
        texts = ", ".join(json.dumps(each["const"]) for each in several)
        yield from _alias(named(name), f"Literal[{texts}]", schema)
    elif schema.get("additionalProperties") not in (None, False) or "properties" not in schema:
        yield from _alias(named(name), kind_of(schema), schema)
    else:
        yield from table(named(name), schema, told)


def _alias(name: str, kind: str, schema: Schema) -> Iterator[str]:
    yield f"{name}: TypeAlias = ({kind})"
    yield from documented(schema.get("description", "A value."))
    yield ""


def meanings() -> dict[str, dict[str, str]]:
    """Return what metrics and labels mean, by table of the core and key."""
    found: dict[str, dict[str, str]] = {}
    for each in [*metric_definitions(), *labels()]:
        unit = f"{each['unit']}: " if each.get("unit") else ""
        says = f"{unit}{each['meaning'] if 'meaning' in each else each['formula']}."
        for table, level in LEVELS.items():
            if each["level"] == level:
                found.setdefault(table, {})[each["name"]] = says
        for table, beginning in GROUPS.items():
            if each["name"].startswith(beginning):
                found.setdefault(table, {})[each["name"].removeprefix(beginning)] = says
    return found


def module(schema: Schema, what: str, file: str) -> str:
    """Return the text of the module of types of a schema."""
    told = meanings()
    lines = [HEAD.format(what=what, file=file), ""]
    for name, each in schema["definitions"].items():
        lines += definition(name, each, told.get(name, {}))
    root = {key: value for key, value in schema.items() if key not in ("definitions", "$schema", "title")}
    if root:
        lines += definition(schema["title"], root, {})
    return "\n".join(lines).rstrip("\n") + "\n"


def formatted(text: str) -> str:
    """Return a module as this project lays it out, without imports that it does not need."""
    for words in (("check", "--quiet", "--fix", "--select", "F401"), ("format",)):
        command = [sys.executable, "-m", "ruff", *words, "--config", str(ROOT / "pyproject.toml"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main() -> int:
    """Writes the files, or compares them."""
    files: dict[Path, str] = {}
    for name, schema, what in (
        ("specification", run_schema(), "The specification of a run, as the core is given it: JSON."),
        ("statistics", statistics_schema(), "The statistics of a run, as the core returns them: JSON."),
    ):
        files[FOLDER / f"{name}.json"] = to_json(schema)
        files[FOLDER / f"{name}.py"] = formatted(module(schema, what, f"{name}.json"))
    return write_or_compare(files, "scripts.contract", "what the core says")


if __name__ == "__main__":
    sys.exit(main())
