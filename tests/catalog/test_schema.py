"""Tests of the schemas of TOML files against their readers."""

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft7Validator

import dumbbell
from dumbbell import _core
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme

ROOT = Path(__file__).parents[2]
CATALOG = Path(dumbbell.__file__).parent / "catalog"
KINDS = ("experiment", "path", "scheme")
READERS: dict[str, Any] = {"experiment": ExperimentFile, "path": PathModel, "scheme": Scheme}
SCHEMAS = {kind: dumbbell.schema(kind) for kind in KINDS}
VALIDATORS = {kind: Draft7Validator(schema) for kind, schema in SCHEMAS.items()}


def built_in_files(kind: str) -> list[Path]:
    return sorted((CATALOG / f"{kind}s").rglob("*.toml"))


def faults(kind: str, table: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in VALIDATORS[kind].iter_errors(table)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_shipped_file_is_valid(kind: str) -> None:
    Draft7Validator.check_schema(SCHEMAS[kind])
    files = built_in_files(kind)
    assert len(files) > 30
    assert {
        file.name: faults_found for file in files if (faults_found := faults(kind, tomllib.loads(file.read_text())))
    } == {}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_of_every_listed_one_is_valid(kind: str) -> None:
    listed_items = {"experiment": dumbbell.experiments, "path": dumbbell.paths, "scheme": dumbbell.schemes}[kind]()
    for item in listed_items:
        assert faults(kind, json.loads(json.dumps(tomllib.loads(item.to_toml())))) == [], item.name


LINK = {"kind": "link", "rate_mbps": 10.0}
TABLES: dict[str, dict[str, Any]] = {
    "link": {"rate_mbps": 10.0},
    "trace": {"even": {"lines": 10, "period_ms": 100.0}},
    "poisson": {"rate_mbps": 10.0},
    "cellular": {"mean_mbps": 10.0},
    "shared": {"rate_mbps": 10.0, "least_mbps": 1e-6, "full_bytes": 10},
    "shaper": {"rate_mbps": 10.0, "burst_bytes": 9000},
    "policer": {"rate_mbps": 10.0, "burst_bytes": 9000},
    "delay": {"delay_ms": 10.0},
    "jitter": {"distribution": "uniform", "mean_ms": 1.0, "deviation_ms": 1.0},
    "aggregate": {"slot_ms": 1.0},
    "slotted": {"slot_ms": 1.0},
    "granted": {"request_ms": 5.0, "grant_ms": 4.0},
    "loss": {"probability": 0.1},
    "remark": {"codepoint": "ect", "becomes": "not-ect"},
    "half-duplex": {"rate_mbps": 10.0},
    "gilbert-elliott": {"p": 0.1, "r": 0.1},
    "blackout": {"every_ms": 3_600_000.0, "lasts_ms": 0.0},
    "reorder": {"probability": 0.1, "gap": 2},
    "duplicate": {"probability": 0.1},
    "netem": {"delay_ms": 1.0, "rate_mbps": 1.0, "burst_bytes": 9000},
}
"""A valid element of each kind, in which each number may reach its limits."""
QUEUES: dict[str, dict[str, Any]] = {
    "infinite": {},
    "droptail": {"packets": 10},
    "drophead": {"packets": 10},
    "ack-filter": {"packets": 10},
    "codel": {},
    "pie": {},
    "red": {"min_threshold_packets": 1, "max_threshold_packets": 1 << 40},
    "fq-codel": {},
    "cobalt": {},
    "dualpi2": {},
    "step": {"threshold_packets": 10},
}
OTHERS: dict[tuple[str, str], dict[str, Any]] = {
    ("trace", "opportunity_bytes"): {"even": {"lines": 1, "period_ms": 1e6}},
    ("loss", "every"): {"probability": None},
    ("loss", "keep_every"): {"probability": None},
    ("jitter", "redraw_min_ms"): {"redraw_max_ms": 3.6e6},
    ("jitter", "redraw_max_ms"): {"redraw_min_ms": 0.001},
    ("shared", "rate_mbps"): {"least_mbps": 1e-6},
    ("shared", "least_mbps"): {"rate_mbps": 1e6},
    ("blackout", "every_ms"): {"lasts_ms": 0.0},
    ("cellular", "opportunity_bytes"): {"mean_mbps": 1000.0},
    ("step", "threshold_ms"): {"threshold_packets": None},
    ("red", "max_threshold_packets"): {},
}
"""Other keys that a number needs to reach its limits."""
BEYOND = {
    ("cellular", "mean_mbps"): "the highest rate is above it",
    ("cellular", "max_mbps"): "it is above the mean",
    ("cellular", "opportunity_bytes"): "the least wandering depends on it",
    ("cellular", "sigma"): "its limits depend on the highest rate",
    ("cellular", "reversion_per_s"): "how much it may wander depends on it",
    ("cellular", "outage_escape_per_s"): "how much it may wander depends on it",
    ("blackout", "lasts_ms"): "it is below `every_ms`",
    ("blackout", "every_ms"): "it is above `lasts_ms`",
    ("red", "min_threshold_packets"): "it is below the other threshold",
    ("red", "max_threshold_packets"): "it is above the other threshold",
    ("red", "min_threshold_bytes"): "it is below the other threshold",
    ("red", "max_threshold_bytes"): "it is above the other threshold",
    ("trace", "opportunity_bytes"): "the rate depends on it",
}
"""Numbers that cannot reach both limits, with the reason; values beyond the limits are refused all the same."""


def numbers_of(name: str, places: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    definition = SCHEMAS["path"]["definitions"][name]
    for table in definition[places]:
        kind = table.get("properties", {}).get("kind", {}).get("const")
        for key, schema in table.get("properties", {}).items() if kind else ():
            if schema.get("type") in ("number", "integer") and key not in ("bdp", "ms"):
                yield kind, key, schema


def is_accepted(path: dict[str, Any]) -> bool:
    try:
        _core.check_path(json.dumps(path))
    except dumbbell.Error:
        return False
    return True


def with_element(kind: str, key: str, value: float) -> dict[str, Any]:
    element = {"kind": kind} | TABLES[kind] | OTHERS.get((kind, key), {}) | {key: value}
    elements = [{name: part for name, part in element.items() if part is not None}]
    return {"data": elements, "ack": elements if kind == "half-duplex" else []}


def with_queue(kind: str, key: str, value: float) -> dict[str, Any]:
    queue = {"kind": kind} | QUEUES[kind] | OTHERS.get((kind, key), {}) | {key: value}
    if key.endswith("threshold_bytes"):
        queue = {"kind": kind, "min_threshold_bytes": 10, "max_threshold_bytes": 20} | {key: value}
    link = LINK | {"queue": {name: part for name, part in queue.items() if part is not None}}
    return {"data": [link], "ack": []}


MakePath = Callable[[str, str, float], dict[str, Any]]
NUMBERS = [
    *((with_element, *number) for number in numbers_of("ElementSpec", "oneOf")),
    *((with_queue, *number) for number in numbers_of("QueueSpec", "anyOf")),
]


@pytest.mark.parametrize(
    ("make", "kind", "key", "number_schema"), NUMBERS, ids=[f"{kind}-{key}" for _, kind, key, _ in NUMBERS]
)
def test_limits_are_those_of_the_core(make: MakePath, kind: str, key: str, number_schema: dict[str, Any]) -> None:
    """A value on a limit is accepted, one beyond it is refused, and a number without a limit accepts all."""
    is_whole = number_schema["type"] == "integer"
    for limit, sign in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", 0), ("exclusiveMaximum", 0)):
        if limit in number_schema:
            step = (
                1 if is_whole else abs(number_schema[limit]) * 0.6 or 1e-9
            )  # rates are rounded to whole bits per second
            assert not is_accepted(make(kind, key, number_schema[limit] + sign * step)), limit
            if (kind, key) not in BEYOND and sign:
                assert is_accepted(make(kind, key, number_schema[limit])), limit
    if (kind, key) not in BEYOND and "maximum" not in number_schema and "exclusiveMaximum" not in number_schema:
        assert is_accepted(make(kind, key, (1 << 32) - 1))
    if "minimum" not in number_schema and "exclusiveMinimum" not in number_schema:
        assert is_accepted(make(kind, key, -1))


def transport_accepted(table: dict[str, Any]) -> bool:
    try:
        _core.transport(json.dumps(table))
    except dumbbell.Error:
        return False
    return True


TRANSPORT = SCHEMAS["scheme"]["definitions"]["Config"]["properties"]
SOME = {  # numbers below which there is none, or that are at least another one
    "keepalive_ms": "0 is none, and else it is at least 0.1",
    "send_buffer_bytes": "0 is none, and else it holds a packet",
    "skb_truesize_bytes": "0 is worked out, and else it is a packet's",
    "burst_bytes": "at least a packet",
    "max_window_bytes": "at least a packet",
    "timeout_max_ms": "at least the smallest",
}


@pytest.mark.parametrize(
    "key", [key for key, schema in TRANSPORT.items() if schema.get("type") in ("number", "integer")]
)
def test_limits_of_transports_are_those_of_the_core(key: str) -> None:
    schema = TRANSPORT[key]
    step = 1 if schema["type"] == "integer" else 1e-9
    other_settings = {"payload_bytes": 1, "timeout_min_ms": 0.0, "timeout_max_ms": 600_000.0, "burst_bytes": 65_000}
    assert not transport_accepted(other_settings | {key: schema["minimum"] - step})
    if key not in SOME:
        assert transport_accepted(other_settings | {key: schema["minimum"]})
    if "maximum" in schema:
        assert transport_accepted(other_settings | {key: schema["maximum"]})
        assert not transport_accepted(other_settings | {key: schema["maximum"] + step * schema["maximum"]})


def places(value: object, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of numbers, texts and switches."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*place, index))
    else:
        yield place


def with_change(table: dict[str, Any], place: tuple[Any, ...], value: object) -> dict[str, Any]:
    copied_table = copy.deepcopy(table)
    inner: Any = copied_table
    for part in place[:-1]:
        inner = inner[part]
    inner[place[-1]] = value
    return copied_table


FILES = [(kind, file) for kind in KINDS for file in built_in_files(kind)]
VALUES = st.one_of(
    st.floats(-10, 1e7, allow_nan=False), st.integers(-2, 10_000), st.booleans(), st.sampled_from(["", "x", "none"])
)


@settings(max_examples=300)
@given(st.sampled_from(FILES), st.data())
def test_no_file_that_can_be_read_is_invalid(kind_and_file: tuple[str, Path], data: st.DataObject) -> None:
    """The schema accepts all that the reader accepts: one value of a built-in file is replaced."""
    import tomli_w

    kind, file = kind_and_file
    table = tomllib.loads(file.read_text())
    place = data.draw(st.sampled_from(list(places(table))))
    changed_table = with_change(table, place, data.draw(VALUES))
    try:
        read_item = READERS[kind].from_toml(tomli_w.dumps(changed_table))
        if kind == "path":
            read_item.describe()
    except dumbbell.Error:
        return
    if kind == "scheme":
        try:
            _core.transport(json.dumps(read_item.transport))
            _core.check_application(json.dumps(read_item.application))
            _core.check_parameters(read_item.controller, read_item.parameters)
        except dumbbell.Error:
            return
    if kind != "experiment":  # the values of its grid and its schemes are read when it is resolved
        assert faults(kind, changed_table) == []


TYPOS: list[tuple[str, str, str]] = [
    ("path", "[[data]]\nkind = 'link'\nrate_mpbs = 1.0", "'rate_mpbs' was unexpected"),
    ("path", "[[data]]\nkind = 'lonk'", "data[0]"),
    ("path", "[[data]]\nkind = 'delay'\ndelay_ms = -1", "-1 is less than the minimum"),
    ("path", "mtu_bytes = 60", "60 is less than the minimum of 68"),
    ("path", "[[data]]\nkind = 'link'\nrate_mbps = 1.0\nqueue = { kind = 'codel', target = 5 }", "queue"),
    ("scheme", "kind = 'cor'", "'cor' is not one of"),
    ("scheme", "controller = 'cubic'\nparameters = { beto = 0.5 }", "'beto' was unexpected"),
    ("scheme", "controller = 'cubic'\nparameters = { beta = 1.5 }", "beta"),
    ("scheme", "transport = { ack_evry = 2 }", "'ack_evry' was unexpected"),
    ("scheme", "application = { kind = 'fixed' }", "application"),
    ("experiment", "durations_s = 3", "'durations_s' was unexpected"),
    ("experiment", "runs = 0", "0 is less than the minimum of 1"),
    ("experiment", "log = 'all'", "'all' is not one of"),
    ("experiment", "[grid]\nqlen = 3", "'qlen' was unexpected"),
    ("experiment", "[scheme.mine]\ncontroller = 'copa'\nparameters = { dleta = 0.5 }", "'dleta' was unexpected"),
    ("experiment", "[[flow]]\nschema = 'cubic'", "'schema' was unexpected"),
]


@pytest.mark.parametrize(("kind", "text", "message"), TYPOS)
def test_a_typo_is_found(kind: str, text: str, message: str) -> None:
    messages = [
        f"{part.json_path}: {part.message}"
        for error in VALIDATORS[kind].iter_errors(tomllib.loads(text))
        for part in (error, *(error.context or ()))
    ]
    assert any(message in line for line in messages), messages


def test_every_key_is_described() -> None:
    def lacking(schema: object, place: str) -> Iterator[str]:
        if isinstance(schema, list):
            for part in schema:
                yield from lacking(part, place)
        elif isinstance(schema, dict):
            for key, property_schema in (
                schema.get("properties", {}).items() if not place.endswith((".if", ".then")) else ()
            ):
                if not property_schema.get("description") and key != "kind" and "const" not in property_schema:
                    yield f"{place}.{key}"
            for key, part in schema.items():
                yield from lacking(part, f"{place}.{key}")

    for kind in KINDS:
        assert list(lacking(SCHEMAS[kind], kind)) == []


def test_a_kind_that_is_none() -> None:
    with pytest.raises(
        dumbbell.Error, match=r"schema `paths` \(did you mean `path`\?\): allowed are experiment, path, scheme"
    ):
        dumbbell.schema("paths")
    with pytest.raises(dumbbell.Error, match="schema `x`"):
        dumbbell.schema_file("x")
