"""Grids: an experiment over every combination of the values of some axes. A combination on a path is a cell."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.base.names import RULE, is_name
from dumbbell.catalog.grids import axes
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.grids.size import MOST_PARTS, Size
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.toml_tables import MOST_TITLE, TomlTable

MOST_CELLS = 100_000
MOST_CHARACTERS = 1000
"""Of a table that is a value of an axis: the title of each of its cells says all of it."""


@dataclass(frozen=True)
class Axis:
    """The name of an axis and the values along it, in order."""

    name: str
    values: tuple[Any, ...]


def parse_grid(table: TomlTable) -> tuple[Axis, ...]:
    """The axes of a `[grid]` table."""
    found = []
    for name in table.raw:
        axes.find(name, table)
        values = tuple(table.values(name))
        for value in values:
            length = len(_text(_without_label(value))) if isinstance(value, dict) else 0
            if length > MOST_CHARACTERS:
                raise UserError(
                    f"{table.source}: `{table.prefix}{name}`: a value of {length} characters: "
                    f"allowed are at most {MOST_CHARACTERS}"
                )
        found.append(Axis(name, values))
    return tuple(found)


def grid_table(grid: tuple[Axis, ...]) -> dict[str, list[Any]]:
    """As written under `[grid]`."""
    return {axis.name: list(axis.values) for axis in grid}


def check_count(grid: tuple[Axis, ...], paths: int, source: str) -> None:
    """Refuses a grid that makes too many cells on so many paths.

    Raises:
        UserError: says how many there would be.
    """
    count = math.prod(len(axis.values) for axis in grid) * paths
    if count > MOST_CELLS:
        raise UserError(f"{source}: `grid`: {count} cells on {paths} paths: allowed are at most {MOST_CELLS}")


def check_size(grid: tuple[Axis, ...], paths: Collection[PathModel], flows: tuple[FlowPlan, ...], source: str) -> None:
    """Refuses a grid whose cells on these paths have too many flows, elements and scheduled changes, each or together.

    Raises:
        UserError: says how many there would be; or a value of an axis that is not allowed.
    """
    others = sum(bool(flow.scheme) for flow in flows)
    growing = [axis for axis in grid if axis.name in axes.GROWTHS]
    alike = math.prod(len(axis.values) for axis in grid if axis.name not in axes.GROWTHS)
    given = [
        [TomlTable({axis.name: _without_label(value)}, source, "grid.") for value in axis.values] for axis in growing
    ]
    parts = 0
    for path in paths:
        first = Size.of(path.data, path.ack, len(flows) - others if flows else 1, others)
        for values in product(*given):
            size = first
            for axis, value in zip(growing, values, strict=True):
                size = axes.GROWTHS[axis.name](size, value)
            if size.flows > axes.MOST_FLOWS:
                raise UserError(
                    f"{source}: `grid`: a cell of {size.flows} flows: allowed are at most {axes.MOST_FLOWS}"
                )
            parts += size.parts * alike
    if parts > MOST_PARTS:
        raise UserError(
            f"{source}: `grid`: {parts} flows, path elements and scheduled changes in all cells: "
            f"allowed are at most {MOST_PARTS}"
        )


def cells(path: PathModel, flows: tuple[FlowPlan, ...], grid: tuple[Axis, ...], source: str) -> list[Cell]:
    """Every combination of the grid's values on one path. Without a grid: the path itself.

    Raises:
        UserError: a value that is not allowed, or one that this path cannot take.
    """
    if not grid:
        return [Cell(path, flows, {}, path.name)]
    made: dict[str, Cell] = {}
    for values in product(*(axis.values for axis in grid)):
        cell = Cell(path, flows or (FlowPlan(),))
        given: dict[str, object] = {}
        for axis, value in zip(grid, values, strict=True):
            named = _without_label(value)
            cell = axes.find(axis.name, TomlTable({}, source))(cell, TomlTable({axis.name: named}, source, "grid."))
            given |= named if isinstance(named, dict) else {axis.name: named}
        name = ".".join([path.name, *(_label(axis.name, value) for axis, value in zip(grid, values, strict=True))])
        if not is_name(name):
            raise UserError(
                f"{source}: `grid`: a combination is called `{name}`: allowed are {RULE}: give it a `label`"
            )
        if name in made:
            raise UserError(f"{source}: `grid`: two combinations are called `{name}`: give their values a `label`")
        shown = ", ".join(f"{key} {_text(value)}" for key, value in given.items() if value != "")
        title = "; ".join(part for part in (path.title, shown) if part)[:MOST_TITLE]
        model = replace(cell.path, name=name, title=title, aliases=())
        # Flows that no axis touched stay with the experiment's `flows` and mixes.
        untouched = not flows and cell.flows == (FlowPlan(),)
        made[name] = Cell(model, () if untouched else cell.flows, given, path.name)
    return list(made.values())


def _without_label(value: Any) -> Any:  # noqa: ANN401 (a TOML value)
    return {key: item for key, item in value.items() if key != "label"} if isinstance(value, dict) else value


def _label(name: str, value: Any) -> str:  # noqa: ANN401 (a TOML value)
    if isinstance(value, dict):
        words = [str(value["label"])] if "label" in value else [_text(item) for item in value.values()]
        return "-".join([name, *words])
    return f"{name}-{_text(value)}"


def _text(value: Any) -> str:  # noqa: ANN401 (a TOML value)
    if isinstance(value, list):
        return "-".join(_text(item) for item in value)
    if isinstance(value, dict):
        return "-".join(f"{key}-{_text(item)}" for key, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
