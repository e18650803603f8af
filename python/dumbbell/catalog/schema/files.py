"""The three kinds of TOML files as JSON Schemas (draft-07), put together of what their readers and the core say."""

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
"""The kinds of files that have a schema."""

SHIPPED = Path(__file__).resolve().parent
"""Directory in which the schemas are installed, as KIND.json: `scripts/schemas.py` writes them."""

DRAFT = "http://json-schema.org/draft-07/schema#"


def schema(kind: str) -> Schema:
    """Return the JSON Schema (draft-07) of a kind of TOML file: `experiment`, `path` or `scheme`.

    It has of each key the type, limits, default and what it means. What depends on several keys is not in it: a file
    that is valid by its schema can be refused when it is read.

    Raises:
        UserError: there is no such kind.
    """
    require_kind(kind)
    definitions = _definitions()
    made = definitions[kind.capitalize()]
    title = f"dumbbell {kind} file"
    return {"$schema": DRAFT, "title": title} | made | {"definitions": _needed(made, definitions)}


def require_kind(kind: str) -> None:
    """Refuse what is no kind of file that has a schema.

    Raises:
        UserError: says which ones there are.
    """
    if kind not in FILES:
        raise UserError(f"schema `{kind}`{nearest(kind, FILES)}: allowed are {listed(FILES)}")


def _path() -> Schema:
    made = _recorded(parse_path, "path")
    for direction in ("data", "ack"):
        made["properties"][direction]["items"] = _ref("ElementSpec")
    _describe(made["properties"]["schedule"]["items"], "mtu_change")
    return made


def _scheme() -> Schema:
    """Every key that a scheme of any kind has; which ones a kind has not is refused when it is read."""
    properties: dict[str, Schema] = {}
    for kind in KINDS:
        read = _recorded(parse_scheme, "scheme", {"kind": kind})["properties"]
        properties |= {key: each for key, each in read.items() if key not in properties}
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
                "properties": {"controller": {"const": each["name"]}, "kind": {"const": "core"}},
                "required": ["controller"],
            },
            "then": {"properties": {"parameters": _parameters(each["parameters"])}},
        }
        for each in builtin_controllers()
    ]
    return {"type": "object", "properties": properties, "additionalProperties": False, "allOf": by_controller}


def _experiment() -> Schema:
    published: dict[str, object] = {"scheme": "x"} | {name: {} for name in METRICS}
    answers = {"backend": "sim", "udp_ports": "1-2", "ntp": "ntp.example.org", "published": published}
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
    for key, one in (("scheme", _ref("Scheme")), ("path", _ref("Path")), ("cell", _ref("Cell"))):
        properties[key] = properties.pop(key) | {"additionalProperties": one}  # behind the others
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _mean(table: Schema) -> Schema:
    """A number, or a table with the range of the runs, whose values have the limits of the number."""
    number = table["properties"]["mean"]
    table["properties"] = {key: number for key in table["properties"]}
    _describe(table, "mean")
    return {"description": table.pop("description"), "anyOf": [number, table]}


def _flow() -> Schema:
    made = _recorded(parse_flow, "flow", each_absent=({"every_s"}, {"arrivals"}))
    _describe(made["properties"]["arrivals"], "arrivals")
    made["properties"]["application"] = _described(_ref("FlowApplication"), made["properties"]["application"])
    made["properties"]["transport"] = _described(_ref("Config"), made["properties"]["transport"])
    return made


def _cell() -> Schema:
    """Return the schema of a cell as results keep it; nobody writes one."""
    keys = {"path": {"type": "string"}, "axes": {"type": "object"}, "parameters": {"type": "object"}}
    made: Schema = {"type": "object", "properties": keys | {"flow": {"type": "array", "items": _ref("Flow")}}}
    _describe(made, "cell")
    return made | {"additionalProperties": False}


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
    """One value of an axis, or a list of them; `transport` is the table of one that changes it."""
    recorder = Recorder({"step": _RISES, "pulse": _RISES})
    path = PathModel("x", "x", data=[dict(each) for each in _TRIED], ack=[dict(_TRIED[1])])
    with suppress(UserError):  # the value that was read may not fit the path; how it was read is known by then
        AXES[name](Cell(path, (FlowPlan(),)), recorder)
    one = recorder.schema()["properties"][name]
    if one.get("type") == "object":
        one.pop("required", None)  # some keys are needed beside others only
        if name == "transport":
            one |= {"properties": transport["properties"], "additionalProperties": False}
        else:
            _describe(one, name)
        label = {"type": "string", "description": "Name of this value in the names of cells."}
        one["properties"] = {"label": label} | one["properties"]
    return {"description": _first_sentence(AXES[name]), "anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


def _first_sentence(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")


def _parameters(parameters: Sequence[Parameter]) -> Schema:
    return {"properties": {each["name"]: _parameter(each) for each in parameters}, "additionalProperties": False}


def _parameter(parameter: Parameter) -> Schema:
    unit = f" ({parameter['unit']})" if parameter.get("unit") else ""
    described = {"description": f"{parameter['help']}{unit}"}
    kind = parameter["kind"]
    if kind == "flag":
        one: Schema = {"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}
    elif kind == "choice":
        one = {"enum": list(parameter["choices"] or ())}
    elif kind == "file":
        one = {"type": "string"}
    else:
        limits = {"minimum": parameter.get("min"), "maximum": parameter.get("max")}
        number = {"type": kind} | {key: value for key, value in limits.items() if value is not None}
        one = {"anyOf": [number, {"type": "string", "pattern": r"^[-+0-9.eE]+$"}]}
    default = parameter.get("default")
    return described | ({} if default in (None, "") else {"default": default}) | one


def _definitions() -> dict[str, Schema]:
    """The core's, as TOML has them, and those of tables that stand in several files or places."""
    core: dict[str, Schema] = run_schema()["definitions"]
    made = {name: _of_toml(each) for name, each in core.items()}
    for element in made["ElementSpec"]["oneOf"]:
        if element["properties"]["kind"]["const"] == "trace":
            element["properties"]["file"]["description"] = (
                "File of the times, as mahimahi's: one whole number of ms on each line. Relative to this file."
            )
    made["QueueSpec"] = _queue(made["QueueSpec"])
    made["Flow"], made["Cell"], made["Grid"] = _flow(), _cell(), _grid(made["Config"])
    made["Path"], made["Scheme"], made["Experiment"] = _path(), _scheme(), _experiment()
    made["Sizes"] = _sizes()
    made["FlowApplication"] = copy.deepcopy(made["ApplicationSpec"])
    for each in made["FlowApplication"]["oneOf"]:
        if "bytes" in each["properties"]:
            size = each["properties"]["bytes"]
            description = size.pop("description")
            each["properties"]["bytes"] = {"description": description, "anyOf": [size, _ref("Sizes")]}
    return made


def _sizes() -> Schema:
    """How the bytes of transfers are drawn."""
    kinds = []
    for kind in DISTRIBUTIONS:
        recorder = Recorder({"kind": kind})
        size_distribution(recorder)
        one = recorder.schema()
        one["properties"]["kind"] = {"const": kind}
        _describe(one, "sizes")
        kinds.append(one)
    return {"description": "Sizes are drawn: of which distribution.", "oneOf": kinds}


def _queue(core: Schema) -> Schema:
    """A queue of the core; or with a length in `bdp` or `ms`; or without a kind; or a text as `--queue` takes it."""
    lengths = {
        "bdp": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "Length, bandwidth-delay products of the path.",
        },
        "ms": {"type": "number", "exclusiveMinimum": 0, "description": "Length, ms at the link's rate."},
    }
    for each in core["oneOf"]:
        if "packets" in each["properties"]:
            each["properties"] = each["properties"] | lengths
    plain = next(each for each in core["oneOf"] if each["properties"]["kind"]["const"] == "droptail")
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
    """A part of a schema without `null`, which TOML does not have, and without the widths of numbers."""
    if isinstance(schema, list):
        return [_of_toml(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _of_toml(value) for key, value in schema.items() if key not in ("format", "$schema")}
    if isinstance(made.get("type"), list) and "null" in made["type"]:
        rest = [each for each in made["type"] if each != "null"]
        made["type"] = rest[0] if len(rest) == 1 else rest
    if {"type": "null"} in made.get("anyOf", ()):
        rest = [each for each in made.pop("anyOf") if each != {"type": "null"}]
        made |= {"allOf": rest} if len(rest) == 1 else {"anyOf": rest}
    if made.get("default", ...) is None:
        del made["default"]
    if isinstance(made.get("description"), str):
        made["description"] = made["description"].replace("\n", " ")
    return made


def _recorded(
    parse: Callable[[TomlTable], object],
    table: str,
    answers: Mapping[str, Any] | None = None,
    each_absent: Sequence[Collection[str]] = ((),),
    others: Mapping[str, str] | None = None,
) -> Schema:
    """Return the schema of a table by what its reader asks. Keys that exclude each other are absent in turn."""
    properties: dict[str, Schema] = {}
    for absent in each_absent:
        recorder = Recorder(answers, absent)
        parse(recorder)
        properties |= {key: each for key, each in recorder.schema()["properties"].items() if key not in properties}
    if "name" in properties:
        properties["name"].pop("default", None)  # which file it is
    made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    _describe(made, table, others)
    return made


def _describe(schema: Schema, table: str, others: Mapping[str, str] | None = None) -> None:
    known = {**(others or {}), **WORDS[table]}
    schema["properties"] = {key: {"description": known[key]} | each for key, each in schema["properties"].items()}


def _described(schema: Schema, like: Schema) -> Schema:
    """A reference with the description of what it replaces: beside `$ref` draft-07 reads nothing."""
    return {"description": like["description"], "allOf": [schema]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _needed(made: Schema, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """The definitions that a schema refers to, and those that these refer to, by name."""
    found: dict[str, Schema] = {}
    waiting = [made]
    while waiting:
        for name in _named(waiting.pop()):
            if name not in found:
                found[name] = definitions[name]
                waiting.append(definitions[name])
    return dict(sorted(found.items()))


def _named(schema: Any) -> list[str]:  # noqa: ANN401 (any part of a schema)
    if isinstance(schema, list):
        return [name for each in schema for name in _named(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else []
    return own + [name for each in schema.values() for name in _named(each)]
