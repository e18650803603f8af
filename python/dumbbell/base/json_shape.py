"""Shapes of JSON values: what somebody else's file or message has to look like before anything relies on it.

How deep a value nests is bounded where its text is parsed.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import UnionType

from dumbbell.base.errors import UserError

_MOST_COUNT = 2**63 - 1
"""Largest whole number: databases have no larger ones."""
_NOUNS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a table",
    list: "a list",
}


@dataclass(frozen=True)
class Table:
    """A table: the keys that it may have and their shapes, those that it has to have, and the shape of all others."""

    keys: Mapping[str, "Shape"]
    required: tuple[str, ...] = ()
    others: "Shape | None" = None
    nothing: bool = False
    """Whether null is allowed in its place."""


@dataclass(frozen=True)
class Each:
    """A list: the shape of each entry."""

    shape: "Shape"


Shape = type | UnionType | Table | Each


def require_shape(value: object, shape: Shape, key: str = "") -> None:
    """Refuse a value of a JSON file that has not the shape it was written with.

    Raises:
        UserError: names the key and what is allowed.
    """
    if isinstance(shape, Table):
        _require_table(value, shape, key)
    elif isinstance(shape, Each):
        if not isinstance(value, list):
            raise UserError(f"{_named(key)}: allowed is a list")
        for place, each in enumerate(value):
            require_shape(each, shape.shape, f"{key}[{place}]")
    else:
        kinds: tuple[type, ...] = shape.__args__ if isinstance(shape, UnionType) else (shape,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            allowed = dict.fromkeys(_NOUNS[kind] for kind in kinds if kind in _NOUNS)
            raise UserError(f"{_named(key)}: allowed is {' or '.join(allowed)}")
        _require_finite(value, key)


def _require_table(value: object, shape: Table, key: str) -> None:
    if value is None and shape.nothing:
        return
    if not isinstance(value, dict):
        raise UserError(f"{_named(key)}: allowed is a table")
    for missing in (name for name in shape.required if name not in value):
        raise UserError(f"key `{key}{'.' if key else ''}{missing}` is missing")
    for name, each in value.items():
        expected = shape.keys.get(name, shape.others)
        place = f"{key}.{name}" if key else name
        if expected is None:
            _require_finite(each, place)
        else:
            require_shape(each, expected, place)


def _require_finite(value: object, key: str) -> None:
    """Refuse numbers that dumbbell never writes, wherever they are in a value of any shape."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{_named(key)} = {value:g}: allowed is a finite number")
    if isinstance(value, int) and not -_MOST_COUNT - 1 <= value <= _MOST_COUNT:
        raise UserError(f"{_named(key)} = {value}: allowed is up to {_MOST_COUNT}")
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in entries:
        _require_finite(each, f"{key}.{name}")


def _named(key: str) -> str:
    return f"`{key}`" if key else "the file"
