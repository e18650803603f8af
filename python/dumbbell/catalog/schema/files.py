"""The three kinds of TOML files as JSON Schemas (draft-07), made from their readers and the core's schema."""

import copy
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.experiment_settings import DESCRIPTIONS, Settings
from dumbbell.catalog.grids.arrivals import DISTRIBUTIONS, size_distribution
from dumbbell.catalog.grids.axes import AXES
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan, parse_flow
from dumbbell.catalog.path import PathModel, parse_path
from dumbbell.catalog.published import METRICS
from dumbbell.catalog.queue_lengths import UNITS
from dumbbell.catalog.schema.recorder import Recorder, Schema
from dumbbell.catalog.schema.words import WORDS
from dumbbell.catalog.scheme import KINDS, parse_scheme
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.contract.controllers import Parameter
from dumbbell.core.controllers import builtin_controllers
from dumbbell.core.schemas import run_schema

FILES = ("experiment", "path", "scheme")
"""Kinds of files that have a schema."""

SHIPPED = Path(__file__).resolve().parent
"""Directory of the installed schemas, KIND.json, which `scripts/schemas.py` writes."""

DRAFT = "http://json-schema.org/draft-07/schema#"


def schema(kind: str) -> Schema:
    """Return the JSON Schema (draft-07) of a kind of TOML file: `experiment`, `path` or `scheme`.

    The schema has the type, limits, default and meaning of each key, but no rules about several keys. So a file
    that is valid for the schema can still be refused when it is read.

    Raises:
        UserError: If there is no such kind.
    """
    require_kind(kind)
    definitions = _definitions()
    root = definitions[kind.capitalize()]
    title = f"dumbbell {kind} file"
    return {"$schema": DRAFT, "title": title} | root | {"definitions": _needed(root, definitions)}


def require_kind(kind: str) -> None:
    """Raise an error if no schema exists for a kind of file.

    Raises:
        UserError: If there is no such kind; the message has all kinds.
    """
    if kind not in FILES:
        raise UserError(f"schema `{kind}`{nearest(kind, FILES)}: allowed are {listed(FILES)}")


def _path() -> Schema:
    path_schema = _recorded(parse_path, "path")
    for direction in ("data", "ack"):
        path_schema["properties"][direction]["items"] = _ref("ElementSpec")
    _describe(path_schema["properties"]["schedule"]["items"], "mtu_change")
    return path_schema


def _scheme() -> Schema:
    """Return the schema with the keys of all kinds of schemes. The reader refuses keys that a kind does not have."""
    properties: dict[str, Schema] = {}
    for kind in KINDS:
        read = _recorded(parse_scheme, "scheme", {"kind": kind})["properties"]
        properties |= {key: property_ for key, property_ in read.items() if key not in properties}
    properties["controller"].pop("default", None)
    properties["parameters"] = properties["parameters"] | {
        "type": "object",
        "additionalProperties": {"type": ["number", "boolean", "string"]},
    }
    properties["transport"] = _described(_ref("Config"), properties["transport"])
    properties["application"] = _described(_ref("ApplicationSpec"), properties["application"])
    program = properties["program"]["properties"]
    for texts in (properties["files"], program["environment"]):
        texts["additionalProperties"] = {"type": "string"}
    program["requires"].pop("default", None)
    _describe(properties["program"], "program")
    by_controller = [
        {
            "if": {
                "properties": {"controller": {"const": controller["name"]}, "kind": {"const": "core"}},
                "required": ["controller"],
            },
            "then": {"properties": {"parameters": _parameters(controller["parameters"])}},
        }
        for controller in builtin_controllers()
    ]
    return {"type": "object", "properties": properties, "additionalProperties": False, "allOf": by_controller}


def _experiment() -> Schema:
    published_row: dict[str, object] = {"scheme": "x"} | {name: {} for name in METRICS}
    answers = {"backend": "sim", "udp_ports": "1-2", "ntp": "ntp.example.org", "published": published_row}
    read = _recorded(parse_experiment_file, "experiment", answers, ({"every_s"}, {"runs", "arrivals"}), DESCRIPTIONS)
    properties: dict[str, Schema] = read["properties"]
    for name, default in Settings().settings_table().items():
        properties[name]["default"] = default
    _describe(properties["published"]["items"], "published")
    _describe(properties["benchmark"], "benchmark")
    _describe(properties["quick"], "quick", DESCRIPTIONS)
    rows = properties["published"]["items"]["properties"]
    for name in METRICS:
        rows[name] = _mean(rows[name])
    properties["flow"]["items"] = _ref("Flow")
    properties["grid"] = _described(_ref("Grid"), properties["grid"])
    properties["quick"]["properties"]["grid"] = _described(_ref("Grid"), properties["quick"]["properties"]["grid"])
    for key, item in (("scheme", _ref("Scheme")), ("path", _ref("Path")), ("cell", _ref("Cell"))):
        properties[key] = properties.pop(key) | {"additionalProperties": item}  # after the other keys
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _mean(table: Schema) -> Schema:
    """Return the schema of a number, or of a table with the range of the runs.

    The table's values have the number's limits.
    """
    number = table["properties"]["mean"]
    table["properties"] = {key: number for key in table["properties"]}
    _describe(table, "mean")
    return {"description": table.pop("description"), "anyOf": [number, table]}


def _flow() -> Schema:
    flow_schema = _recorded(parse_flow, "flow", each_absent=({"every_s"}, {"arrivals"}))
    _describe(flow_schema["properties"]["arrivals"], "arrivals")
    flow_schema["properties"]["application"] = _described(
        _ref("FlowApplication"), flow_schema["properties"]["application"]
    )
    flow_schema["properties"]["transport"] = _described(_ref("Config"), flow_schema["properties"]["transport"])
    return flow_schema


def _cell() -> Schema:
    """Return the schema of a cell in results; people do not write cells."""
    keys = {"path": {"type": "string"}, "axes": {"type": "object"}, "parameters": {"type": "object"}}
    cell_schema: Schema = {"type": "object", "properties": keys | {"flow": {"type": "array", "items": _ref("Flow")}}}
    _describe(cell_schema, "cell")
    return cell_schema | {"additionalProperties": False}


def _grid(transport: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {name: _axis(name, transport) for name in AXES},
        "additionalProperties": False,
    }


_TRIED = (
    {"kind": "link", "rate_mbps": 10.0, "queue": {"kind": "droptail", "packets": 100}},
    {"kind": "delay", "delay_ms": 10.0},
)


_RISES = {"lower": 0.5, "upper": 0.9}


def _axis(name: str, transport: Schema) -> Schema:
    """Return the schema of an axis: one value or a list; `transport` is the table of the axis of this name."""
    recorder = Recorder({"step": _RISES, "pulse": _RISES})
    path = PathModel("x", "x", data=[dict(element) for element in _TRIED], ack=[dict(_TRIED[1])])
    with suppress(UserError):  # the recorded value may not fit the path
        AXES[name](Cell(path, (FlowPlan(),)), recorder)
    value_schema = recorder.schema()["properties"][name]
    if value_schema.get("type") == "object":
        value_schema.pop("required", None)  # some keys are required only together with others
        if name == "transport":
            value_schema |= {"properties": transport["properties"], "additionalProperties": False}
        else:
            _describe(value_schema, name)
        label = {"type": "string", "description": "Name of this value in the names of cells."}
        value_schema["properties"] = {"label": label} | value_schema["properties"]
    return {
        "description": _first_sentence(AXES[name]),
        "anyOf": [value_schema, {"type": "array", "items": value_schema, "minItems": 1}],
    }


def _first_sentence(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def _parameters(parameters: Sequence[Parameter]) -> Schema:
    return {
        "properties": {parameter["name"]: _parameter(parameter) for parameter in parameters},
        "additionalProperties": False,
    }


def _parameter(parameter: Parameter) -> Schema:
    unit = f" ({parameter['unit']})" if parameter.get("unit") else ""
    description = {"description": f"{parameter['help']}{unit}"}
    kind = parameter["kind"]
    if kind == "flag":
        value_schema: Schema = {"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}
    elif kind == "choice":
        value_schema = {"enum": list(parameter["choices"] or ())}
    elif kind == "file":
        value_schema = {"type": "string"}
    else:
        limits = {"minimum": parameter.get("min"), "maximum": parameter.get("max")}
        number = {"type": kind} | {key: value for key, value in limits.items() if value is not None}
        value_schema = {"anyOf": [number, {"type": "string", "pattern": r"^[-+0-9.eE]+$"}]}
    default = parameter.get("default")
    return description | ({} if default in (None, "") else {"default": default}) | value_schema


def _definitions() -> dict[str, Schema]:
    """Return the definitions of the core, adapted to TOML, and of tables that occur in several files or places."""
    core: dict[str, Schema] = run_schema()["definitions"]
    definitions = {name: _of_toml(definition) for name, definition in core.items()}
    for element in definitions["ElementSpec"]["oneOf"]:
        if element["properties"]["kind"]["const"] == "trace":
            element["properties"]["file"]["description"] = (
                "File of the times, as mahimahi's: one whole number of ms on each line. Relative to this file."
            )
    definitions["QueueSpec"] = _queue(definitions["QueueSpec"])
    definitions["Flow"], definitions["Cell"], definitions["Grid"] = _flow(), _cell(), _grid(definitions["Config"])
    definitions["Path"], definitions["Scheme"], definitions["Experiment"] = _path(), _scheme(), _experiment()
    definitions["Sizes"] = _sizes()
    definitions["FlowApplication"] = copy.deepcopy(definitions["ApplicationSpec"])
    for variant in definitions["FlowApplication"]["oneOf"]:
        if "bytes" in variant["properties"]:
            size = variant["properties"]["bytes"]
            description = size.pop("description")
            variant["properties"]["bytes"] = {"description": description, "anyOf": [size, _ref("Sizes")]}
    return definitions


def _sizes() -> Schema:
    """Return the schema of the distributions of transfer sizes."""
    kinds = []
    for kind in DISTRIBUTIONS:
        recorder = Recorder({"kind": kind})
        size_distribution(recorder)
        distribution = recorder.schema()
        distribution["properties"]["kind"] = {"const": kind}
        _describe(distribution, "sizes")
        kinds.append(distribution)
    return {"description": "Sizes are drawn: of which distribution.", "oneOf": kinds}


def _queue(core: Schema) -> Schema:
    """Return the schema of a queue: the core's, a length in `bdp` or `ms`, a length without a kind, or a text."""
    lengths = {
        "bdp": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "Length, bandwidth-delay products of the path.",
        },
        "ms": {"type": "number", "exclusiveMinimum": 0, "description": "Length, ms at the link's rate."},
    }
    for variant in core["oneOf"]:
        if "packets" in variant["properties"]:
            variant["properties"] = variant["properties"] | lengths
    plain = next(variant for variant in core["oneOf"] if variant["properties"]["kind"]["const"] == "droptail")
    kindless = {key: value for key, value in plain["properties"].items() if key in UNITS}
    short = {
        "description": "A length alone: what does not fit is refused.",
        "type": "object",
        "properties": kindless,
        "additionalProperties": False,
        "minProperties": 1,
    }
    text = {"type": "string", "description": "A length with its unit: `1bdp`, `200ms`, `100p`, `64KB`."}
    return {"description": core["description"], "anyOf": [*core["oneOf"], short, text]}


def _of_toml(schema: Any) -> Any:  # noqa: ANN401 (any part of a schema)
    """Return a part of a schema without `null`, which TOML does not have, and without the widths of numbers."""
    if isinstance(schema, list):
        return [_of_toml(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    part = {key: _of_toml(value) for key, value in schema.items() if key not in ("format", "$schema")}
    if isinstance(part.get("type"), list) and "null" in part["type"]:
        rest = [type_ for type_ in part["type"] if type_ != "null"]
        part["type"] = rest[0] if len(rest) == 1 else rest
    if {"type": "null"} in part.get("anyOf", ()):
        rest = [option for option in part.pop("anyOf") if option != {"type": "null"}]
        part |= {"allOf": rest} if len(rest) == 1 else {"anyOf": rest}
    if part.get("default", ...) is None:
        del part["default"]
    if isinstance(part.get("description"), str):
        part["description"] = part["description"].replace("\n", " ")
    return part


def _recorded(
    parse: Callable[[TomlTable], object],
    table: str,
    answers: Mapping[str, Any] | None = None,
    each_absent: Sequence[Collection[str]] = ((),),
    descriptions: Mapping[str, str] | None = None,
) -> Schema:
    """Return the schema of a table from the calls of its reader. Keys that exclude each other are absent in turn."""
    properties: dict[str, Schema] = {}
    for absent in each_absent:
        recorder = Recorder(answers, absent)
        parse(recorder)
        properties |= {
            key: property_ for key, property_ in recorder.schema()["properties"].items() if key not in properties
        }
    if "name" in properties:
        properties["name"].pop("default", None)  # the default is the file's own name
    table_schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    _describe(table_schema, table, descriptions)
    return table_schema


def _describe(schema: Schema, table: str, descriptions: Mapping[str, str] | None = None) -> None:
    description_of = {**(descriptions or {}), **WORDS[table]}
    schema["properties"] = {
        key: {"description": description_of[key]} | property_ for key, property_ in schema["properties"].items()
    }


def _described(schema: Schema, like: Schema) -> Schema:
    """Return a reference with the description of the replaced schema: draft-07 ignores all keys beside `$ref`."""
    return {"description": like["description"], "allOf": [schema]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _needed(root: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """Return the definitions that a schema refers to, directly or through other definitions, by name."""
    needed: dict[str, Schema] = {}
    waiting = [root]
    while waiting:
        for name in _named(waiting.pop()):
            if name not in needed:
                needed[name] = definitions[name]
                waiting.append(definitions[name])
    return dict(sorted(needed.items()))


def _named(schema: Any) -> list[str]:  # noqa: ANN401 (any part of a schema)
    if isinstance(schema, list):
        return [name for item in schema for name in _named(item)]
    if not isinstance(schema, dict):
        return []
    reference = [schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else []
    return reference + [name for part in schema.values() for name in _named(part)]
