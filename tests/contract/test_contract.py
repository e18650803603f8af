"""Tests of the contract between the core and Python: its types derive from the core's structures; the data fit them."""

from __future__ import annotations

import importlib
import json
import re
import typing
from pathlib import Path
from typing import Any

import pytest
import typing_extensions
from jsonschema import Draft7Validator

import dumbbell
from dumbbell import _core

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "python" / "dumbbell" / "contract"
MODULES = ("environment", "run", "specification", "statistics")


def schema(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((CONTRACT / f"{name}.json").read_text())
    return content


def faults(name: str, value: object, root: str | None = None) -> list[str]:
    """Return the faults of a value by the committed schema, or by one of its definitions."""
    whole_schema = schema(name)
    if root:
        whole_schema |= {"$ref": f"#/definitions/{root}"}
    return [
        f"{list(error.absolute_path)}: {error.message}" for error in Draft7Validator(whole_schema).iter_errors(value)
    ]


@pytest.mark.parametrize("name", MODULES)
def test_modules_can_be_imported_and_every_table_names_types_that_exist(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module_name in MODULES:  # which name it for type checkers alone
        module = importlib.import_module(f"dumbbell.contract.{module_name}")
        monkeypatch.setattr(module, "ReadOnly", typing_extensions.ReadOnly, raising=False)
    module = importlib.import_module(f"dumbbell.contract.{name}")
    tables = [value for value in vars(module).values() if typing.is_typeddict(value)]
    assert tables
    for table in tables:
        assert typing_extensions.get_type_hints(table, include_extras=True)


def test_statistics_of_a_run_are_valid_and_have_every_metric() -> None:
    run = dumbbell.specification("cubic", duration=2.0)
    text, *_ = _core.simulate_in_memory(json.dumps(run))
    document = json.loads(text)
    assert faults("statistics", document, "SimulatedRun") == []
    for level, table in (
        ("flow", document["flows"][0]),
        ("link", document["links"][0]),
        ("network", document["network"]),
    ):
        definition = schema("statistics")["definitions"][f"{level.capitalize()}Stats"]["properties"]
        metric_names = {
            metric["name"] for metric in dumbbell.metrics() if metric["level"] == level and "." not in metric["name"]
        }
        assert metric_names <= definition.keys() == table.keys()


def test_a_value_of_another_type_is_found() -> None:
    run = dumbbell.specification("cubic", duration=2.0)
    assert faults("specification", run) == []
    run["path"]["data"].append({"kind": "link", "rate_mbps": "10"})
    run["flows"][0]["start"] = 0.0
    assert len(faults("specification", run)) == 2


def test_specifications_over_every_path_are_valid() -> None:
    names = [path.name for path in dumbbell.paths()]
    assert len(names) > 30
    wrong = {
        name: faults_found
        for name in names
        if (faults_found := faults("specification", dumbbell.specification("cubic", name)))
    }
    assert wrong == {}


def test_specifications_of_every_scheme_of_the_core_are_valid() -> None:
    names = [scheme["name"] for scheme in dumbbell.listing("schemes", kind="core") if scheme["here"] == "yes"]
    assert len(names) > 30
    wrong = {
        name: faults_found for name in names if (faults_found := faults("specification", dumbbell.specification(name)))
    }
    assert wrong == {}


def test_few_dictionaries_of_anything_are_left() -> None:
    files = [file for ending in ("py", "pyi") for file in CONTRACT.parent.rglob(f"*.{ending}")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert len(lines) > 30_000
    assert sum(re.search(r"(dict|Mapping)\[str, Any\]", line) is not None for line in lines) <= 50
