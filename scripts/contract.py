#!/usr/bin/env python3
"""Write the types of the JSON that the core takes and returns: `.venv/bin/python -m scripts.contract [--check]`.

The files are `python/dumbbell/contract/{specification,statistics}.json`, from the core's structures (serde and
schemars), and a module of typed, read-only tables for each. `--check` writes nothing; the exit
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
"""Python names of the core's definitions whose names are unclear outside of their crate."""
ENDS = ("Spec", "Behavior")
"""Suffixes of names that the table of a kind does not have: `LinkElement` is an `ElementSpec`."""
LEVELS = {"FlowStats": "flow", "LinkStats": "link", "NetworkStats": "network"}
GROUPS = {"AckLinkStats": "acklink.", "MediaStats": "media.", "Completion": "completions."}
"""Source of the metrics of a table: their level, or the prefix of their names."""


IDENTITY = ("flow", "scheme", "link", "direction", "bytes", "flows")
"""Keys of every table of metrics. Results of earlier versions lack newer metrics."""
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


def python_name(name: str) -> str:
    """Return the name of a definition in Python."""
    return NAMES.get(name, name)


def variant(kind: str, name: str) -> str:
    """Return the name of the table of a kind: `LinkElement`."""
    end = next((end for end in ENDS if name.endswith(end)), "")
    return "".join(part.capitalize() for part in re.split(r"[-_]", kind)) + name.removesuffix(end)


def union(kinds: list[str]) -> str:
    """Return the union of types, with None last."""
    once = list(dict.fromkeys(kinds))
    return " | ".join(sorted(once, key=lambda kind: kind == "None"))


def kind_of(schema: Schema) -> str:
    """Return the type of a part of a schema."""
    if "$ref" in schema:
        return python_name(schema["$ref"].rsplit("/", 1)[1])
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]"
    if "enum" in schema:
        texts = [json.dumps(value) for value in schema["enum"] if value is not None]
        return union([f"Literal[{', '.join(texts)}]", *(["None"] if None in schema["enum"] else [])])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return union([kind_of(part) for part in schema[several]])
    kinds = schema.get("type")
    if kinds is None:
        return "object"
    return union([_simple(kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds])])


def _metric_type(schema: Schema) -> str:
    """Return the type of a metric. It is null if a log lacks the data, and files of other tools have any numbers."""
    kinds = kind_of(schema).split(" | ")
    return union([*kinds, *(["float"] if "int" in kinds else []), "None"])


def _simple(kind: str, schema: Schema) -> str:
    if kind == "array":
        items = schema["items"]  # a list for a tuple
        item_types = [kind_of(item) for item in (items if isinstance(items, list) else [items])]
        return f"Sequence[{union(item_types)}]"
    if kind == "object":
        additional = schema.get("additionalProperties", True)
        property_types = [kind_of(property_) for property_ in schema.get("properties", {}).values()]
        additional_types = [kind_of(additional)] if isinstance(additional, dict) else []
        return f"Mapping[str, {union([*additional_types, *property_types]) or 'object'}]"
    return SIMPLE[kind]


def docstring_lines(text: str, indent: str = "") -> Iterator[str]:
    """Yield the lines of a docstring."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    single_line = f'{indent}"""{paragraphs[0]}"""'
    if len(paragraphs) == 1 and len(single_line) <= WIDTH:
        yield single_line
        return
    lines = [textwrap.wrap(paragraph, WIDTH - len(indent) - 3) for paragraph in paragraphs]
    yield f'{indent}"""' + lines[0][0]
    for number, paragraph in enumerate(lines):
        if number:
            yield ""
        yield from (f"{indent}{line}" for line in paragraph[0 if number else 1 :])
    yield f'{indent}"""'


def table(name: str, schema: Schema, meanings_by_key: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a table with its keys.

    `meanings_by_key` describes keys without a description in the schema.
    """
    yield f"class {name}(TypedDict):"
    yield from docstring_lines(schema.get("description", "A table."), "    ")
    yield ""
    required_keys = IDENTITY if meanings_by_key else KEPT.get(name, schema.get("required", ()))
    for key, property_ in sorted(schema["properties"].items(), key=lambda item: item[0] != "kind"):
        is_plain = key in required_keys or not meanings_by_key
        kind = f"ReadOnly[{kind_of(property_) if is_plain else _metric_type(property_)}]"
        yield f"    {key}: {kind if key in required_keys else f'NotRequired[{kind}]'}"
        says = [property_.get("description") or meanings_by_key.get(key, ""), _limits(property_)]
        if any(says):
            yield from docstring_lines(" ".join(filter(None, says)), "    ")
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


def definition(name: str, schema: Schema, meanings_by_key: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a definition: a table, one of several tables, or strings."""
    several = schema.get("oneOf", ())
    if several and all("properties" in option for option in several):
        names = []
        for option in several:
            names.append(variant(option["properties"]["kind"]["const"], name))
            yield from table(names[-1], option, meanings_by_key)
        yield from _alias(python_name(name), union(names), schema)
    elif several and all("const" in option for option in several):
        texts = ", ".join(json.dumps(option["const"]) for option in several)
        yield from _alias(python_name(name), f"Literal[{texts}]", schema)
    elif schema.get("additionalProperties") not in (None, False) or "properties" not in schema:
        yield from _alias(python_name(name), kind_of(schema), schema)
    else:
        yield from table(python_name(name), schema, meanings_by_key)


def _alias(name: str, kind: str, schema: Schema) -> Iterator[str]:
    yield f"{name}: TypeAlias = ({kind})"
    yield from docstring_lines(schema.get("description", "A value."))
    yield ""


def meanings() -> dict[str, dict[str, str]]:
    """Return the meanings of metrics and labels, by table of the core and key."""
    by_table: dict[str, dict[str, str]] = {}
    for item in [*metric_definitions(), *labels()]:
        unit = f"{item['unit']}: " if item.get("unit") else ""
        says = f"{unit}{item['meaning'] if 'meaning' in item else item['formula']}."
        for table, level in LEVELS.items():
            if item["level"] == level:
                by_table.setdefault(table, {})[item["name"]] = says
        for table, beginning in GROUPS.items():
            if item["name"].startswith(beginning):
                by_table.setdefault(table, {})[item["name"].removeprefix(beginning)] = says
    return by_table


def module(schema: Schema, description: str, file: str) -> str:
    """Return the text of the module of types of a schema."""
    by_table = meanings()
    lines = [HEAD.format(what=description, file=file), ""]
    for name, part in schema["definitions"].items():
        lines += definition(name, part, by_table.get(name, {}))
    root = {key: value for key, value in schema.items() if key not in ("definitions", "$schema", "title")}
    if root:
        lines += definition(schema["title"], root, {})
    return "\n".join(lines).rstrip("\n") + "\n"


def format_module(text: str) -> str:
    """Return a module in this project's layout, without unused imports."""
    for words in (("check", "--quiet", "--fix", "--select", "F401"), ("format",)):
        command = [sys.executable, "-m", "ruff", *words, "--config", str(ROOT / "pyproject.toml"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main() -> int:
    """Write or compare the files."""
    files: dict[Path, str] = {}
    for name, schema, description in (
        ("specification", run_schema(), "The specification of a run, as the core is given it: JSON."),
        ("statistics", statistics_schema(), "The statistics of a run, as the core returns them: JSON."),
    ):
        files[FOLDER / f"{name}.json"] = to_json(schema)
        files[FOLDER / f"{name}.py"] = format_module(module(schema, description, f"{name}.json"))
    return write_or_compare(files, "scripts.contract", "what the core says")


if __name__ == "__main__":
    sys.exit(main())
