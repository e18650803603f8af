"""Tests of numbers that TypeScript takes from the core: critical values of Student's t, and fractional metrics."""

import json
from typing import Any

import pytest

import dumbbell
from dumbbell.present.model.figure_metrics import find_metric
from dumbbell.results.numbers import fraction_metrics
from web.core_values import FILE, core_values


def flat(value: Any) -> list[Any]:  # noqa: ANN401 (JSON)
    """Return the numbers and texts of JSON in their order, keys included."""
    if isinstance(value, dict):
        return [item for key in sorted(value) for item in (key, *flat(value[key]))]
    return [item for part in value for item in flat(part)] if isinstance(value, list) else [value]


def test_unit_tests_of_typescript_compare_with_the_core() -> None:
    """The file has the core's current values; otherwise run `python -m web.core_values` in `tests/`."""
    stored_values, current_values = flat(json.loads(FILE.read_text(encoding="utf-8"))), flat(core_values())
    assert len(stored_values) == len(current_values)
    for stored_value, other in zip(stored_values, current_values, strict=True):
        assert stored_value == (pytest.approx(other, rel=1e-9, abs=1e-12) if isinstance(other, float) else other)


def test_fractions_are_said_by_the_definitions() -> None:
    """A metric is a fraction at every level that has it; so are shares of schemes; rates are none."""
    names = {name for _, name in fraction_metrics()}
    assert {"utilization", "jain_index", "competing_share"} <= names
    levels = {(metric["level"], metric["name"]) for metric in dumbbell.listing("metrics") if metric["name"] in names}
    assert levels == fraction_metrics()
    fractions = {name: find_metric(name, ["cubic"]).is_fraction for name in ("utilization", "share:cubic", "loss_rate")}
    assert fractions == {"utilization": True, "share:cubic": True, "loss_rate": False}
