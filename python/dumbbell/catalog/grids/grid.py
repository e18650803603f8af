"""Grids: an experiment over all combinations of the values of some axes. A combination on a path is a cell."""

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
"""Maximum length of a table that is a value of an axis, characters. The title of each cell contains the whole value."""


@dataclass(frozen=True)
class Axis:
    """An axis: its name, and its values in order."""

    name: str
    values: tuple[Any, ...]


def parse_grid(table: TomlTable) -> tuple[Axis, ...]:
    """Return the axes of a `[grid]` table."""
    parsed_axes = []
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
        parsed_axes.append(Axis(name, values))
    return tuple(parsed_axes)


def grid_table(grid: tuple[Axis, ...]) -> dict[str, list[Any]]:
    """Return the `[grid]` table."""
    return {axis.name: list(axis.values) for axis in grid}


def check_count(grid: tuple[Axis, ...], paths: int, source: str) -> None:
    """Raise an error if a grid makes too many cells on `paths` paths.

    Raises:
        UserError: If there are too many cells; the message has their number.
    """
    count = math.prod(len(axis.values) for axis in grid) * paths
    if count > MOST_CELLS:
        raise UserError(f"{source}: `grid`: {count} cells on {paths} paths: allowed are at most {MOST_CELLS}")


def check_size(grid: tuple[Axis, ...], paths: Collection[PathModel], flows: tuple[FlowPlan, ...], source: str) -> None:
    """Raise an error if the cells have too many flows, elements and scheduled changes, each or together.

    Raises:
        UserError: If the size is too large, or if a value of an axis is not allowed.
    """
    other_count = sum(bool(flow.scheme) for flow in flows)
    growing = [axis for axis in grid if axis.name in axes.GROWTHS]
    alike = math.prod(len(axis.values) for axis in grid if axis.name not in axes.GROWTHS)
    value_tables = [
        [TomlTable({axis.name: _without_label(value)}, source, "grid.") for value in axis.values] for axis in growing
    ]
    parts = 0
    for path in paths:
        first = Size.of(path.data, path.ack, len(flows) - other_count if flows else 1, other_count)
        for values in product(*value_tables):
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
    """Return the cells of all value combinations on one path; without a grid, one cell of the path itself.

    Raises:
        UserError: If a value is not allowed, or not possible for this path.
    """
    if not grid:
        return [Cell(path, flows, {}, path.name)]
    cells_by_name: dict[str, Cell] = {}
    for values in product(*(axis.values for axis in grid)):
        cell = Cell(path, flows or (FlowPlan(),))
        axis_values: dict[str, object] = {}
        for axis, value in zip(grid, values, strict=True):
            plain = _without_label(value)
            cell = axes.find(axis.name, TomlTable({}, source))(cell, TomlTable({axis.name: plain}, source, "grid."))
            axis_values |= plain if isinstance(plain, dict) else {axis.name: plain}
        name = ".".join([path.name, *(_label(axis.name, value) for axis, value in zip(grid, values, strict=True))])
        if not is_name(name):
            raise UserError(
                f"{source}: `grid`: a combination is called `{name}`: allowed are {RULE}: give it a `label`"
            )
        if name in cells_by_name:
            raise UserError(f"{source}: `grid`: two combinations are called `{name}`: give their values a `label`")
        values_text = ", ".join(f"{key} {_text(value)}" for key, value in axis_values.items() if value != "")
        title = "; ".join(part for part in (path.title, values_text) if part)[:MOST_TITLE]
        model = replace(cell.path, name=name, title=title, aliases=())
        # flows that no axis changes stay with the experiment's `flows` and mixes
        is_unchanged = not flows and cell.flows == (FlowPlan(),)
        cells_by_name[name] = Cell(model, () if is_unchanged else cell.flows, axis_values, path.name)
    return list(cells_by_name.values())


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
