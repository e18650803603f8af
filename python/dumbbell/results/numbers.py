"""Numbers of a run by their names, and the definitions of metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeGuard

from dumbbell.core.metrics import labels, metric_definitions

if TYPE_CHECKING:
    from dumbbell.contract import statistics as contract
    from dumbbell.contract.run import RunTable


def numbers(run: RunTable) -> Iterator[tuple[str, int, str, float]]:
    """Yield all numbers of a run as (entity, number, metric, value). Flows and links count from 1, the network is 0."""
    entities: list[tuple[str, int, Mapping[str, object]]] = [("network", 0, run["network"])]
    entities += [("flow", index, flow) for index, flow in enumerate(run["flows"], 1)]
    entities += [("link", index, link) for index, link in enumerate(run["links"], 1)]
    labels = _labels()
    for entity, index, table in entities:
        for name, value in flat(table):
            if (entity, name) not in labels:
                yield entity, index, name, value


def flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a table and of the tables in it, by name: `media.stalls`."""
    for name, value in table.items():
        if type(value) is float:  # nearly all are
            yield prefix + name, value
        elif isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        elif is_number(value):
            yield prefix + name, float(value)


def value_of(table: Mapping[str, object], name: str) -> float | None:
    """Return a number of a flow, a link or the network, or None; `media.stalls` is in its table `media`."""
    value: object = table
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return float(value) if is_number(value) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Return True for a number, False for anything else. True and False are no numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_label(entity: str, name: str) -> bool:
    """Return True for a number that is no metric, such as the number or the planned start of a flow."""
    return (entity, name) in _labels()


@cache
def _labels() -> frozenset[tuple[str, str]]:
    return frozenset((label["level"], label["name"]) for label in labels())


@cache
def sampled_metrics() -> frozenset[tuple[str, str]]:
    """Return the metrics that are computed from values per sample interval, as (entity, metric)."""
    return frozenset((metric["level"], metric["name"]) for metric in metric_definitions() if metric["sampled"])


@cache
def one_way_metrics() -> dict[tuple[str, str], str]:
    """Return the metrics that depend on the clocks of both ends, with the kind: `data`, `return` or `difference`."""
    metrics = metric_definitions()
    return {(metric["level"], metric["name"]): metric["one_way"] for metric in metrics if metric["one_way"]}


@cache
def fraction_metrics() -> frozenset[tuple[str, str]]:
    """Return the metrics that are fractions of a whole, as (entity, metric)."""
    return frozenset((metric["level"], metric["name"]) for metric in metric_definitions() if metric["fraction"])


@dataclass(frozen=True)
class Definition:
    """Definition of a metric. `layer` and `sampling` follow from the name, by ccperf's rules (ccperf.net/metrics)."""

    entity_kind: str
    name: str
    layer: str | None
    sampling: str
    convention: str
    unit: str
    formula: str
    source: str


_LAYER = re.compile(r"_(l[1247])$")
_REDUCED = re.compile(r"(^|[._])(mean|var|cov|p\d+)([._]|$)")


def definition(entity_kind: str, name: str, rest: contract.Definition | None = None) -> Definition:
    """Return the definition of a metric. A metric that this version does not know (no `rest`) has only its name."""
    layer = _LAYER.search(name)
    return Definition(
        entity_kind=entity_kind,
        name=name,
        layer=layer[1] if layer else None,
        sampling="statistical" if _REDUCED.search(name) else "singleton",
        convention=rest["convention"] if rest else "",
        unit=rest["unit"] if rest else "",
        formula=rest["formula"] if rest else "",
        source=rest["source"] if rest else "",
    )


def definitions() -> list[Definition]:
    """Return the definitions of all metrics that the core computes."""
    return [definition(metric["level"], metric["name"], metric) for metric in metric_definitions()]
