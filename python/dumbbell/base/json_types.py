"""Checks of the types of JSON values from files or messages of others.

The parser of the text limits the depth of nesting.
"""

import math
import re
from dataclasses import is_dataclass
from typing import Any, TypeVar, cast

import msgspec

from dumbbell.base.errors import UserError

T = TypeVar("T")
Way = list[str | int]
"""The keys and indices that lead to a part of a value."""

_MOST_COUNT = 2**63 - 1
"""Maximum integer, the limit of databases."""
_NOUNS = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}
_MESSAGE = re.compile(
    r"(?:Expected `(?P<kinds>[a-z |]+)`.*?|Object missing required field `(?P<missing>.*?)`)"
    r"(?: - at `\$(?P<place>.*)`)?"
)
"""Message of msgspec about a value of a wrong type."""
_STEP = re.compile(r"\[(?P<index>\d+)\]|\[(?P<any>\.\.\.)\]|\.?(?P<name>[^.\[\]]+)")
"""Step of the path in a message; `[...]` is any key of a table with arbitrary keys."""


def typed(value: object, kind: type[T], key: str = "") -> T:
    """Return a JSON value checked against a type. Values of keys that the type does not have are not checked.

    A table is returned unchanged, with all keys, unless the type is a dataclass.

    Raises:
        UserError: If the value has another type; the message names the key, after `key`, and the allowed types.
    """
    way: Way = [key] if key else []
    _require_numbers(value, way)
    try:
        instance = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UserError(_refusal(str(error), value, kind, way)) from None
    return instance if is_dataclass(kind) else cast("T", value)


def _refusal(message: str, value: object, kind: type[object], above: Way) -> str:
    """Return a message of msgspec in the words of dumbbell."""
    match = _MESSAGE.fullmatch(message)
    if match is None:
        return message
    way = [*above, *_way(match["place"] or "", value, kind)]
    if match["missing"]:
        return f"key {_named([*way, match['missing']])} is missing"
    kinds = match["kinds"].split(" | ")
    nouns = [_NOUNS[name] for name in kinds if name in _NOUNS and not (name == "int" and "float" in kinds)]
    return f"{_named(way)}: allowed is {' or '.join(nouns)}"


def _way(place: str, value: object, kind: type[object]) -> Way:
    """Return the way to the value that msgspec refuses; the first faulty key if the message has `[...]`."""
    way: Way = []
    for step in _STEP.finditer(place):
        if step["any"]:
            inside: Any = value
            for above in way:
                inside = inside[above]
            faulty = (name for name, part in inside.items() if not _fits(_replaced(value, way, {name: part}), kind))
            way.append(next(faulty, step["any"]))
        else:
            way.append(int(step["index"]) if step["index"] else step["name"])
    return way


def _fits(value: object, kind: type[object]) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _replaced(value: Any, way: Way, part: object) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a copy of a value with another part at the end of a way."""
    if not way:
        return part
    copy = value.copy()
    copy[way[0]] = _replaced(value[way[0]], way[1:], part)
    return copy


def _require_numbers(value: object, way: Way) -> None:
    """Raise an error for numbers that dumbbell never writes, anywhere in a value."""
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            if type(part) is float or type(part) is int:  # nearly all are; faster than `isinstance`
                if not -_MOST_COUNT <= part <= _MOST_COUNT:
                    _require_numbers(part, [*way, name])
            elif isinstance(part, dict | list | int | float):
                _require_numbers(part, [*way, name])
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{_named(way)} = {value:g}: allowed is a finite number")
    elif isinstance(value, int) and not -_MOST_COUNT - 1 <= value <= _MOST_COUNT:
        raise UserError(f"{_named(way)} = {value}: allowed is up to {_MOST_COUNT}")


def _named(way: Way) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return f"`{steps.removeprefix('.')}`" if steps else "the file"
