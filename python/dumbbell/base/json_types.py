"""JSON values as values of a type: what somebody else's file or message has to be before anything relies on it.

How deep a value nests is bounded where its text is parsed.
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
"""Largest whole number: databases have no larger ones."""
_NOUNS = {
    "object": "a table",
    "array": "a list",
    "str": "a text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
}
_SAID = re.compile(
    r"(?:Expected `(?P<kinds>[a-z |]+)`.*?|Object missing required field `(?P<missing>.*?)`)"
    r"(?: - at `\$(?P<place>.*)`)?"
)
"""What msgspec says of a value that is not of its type."""
_STEP = re.compile(r"\[(?P<index>\d+)\]|\[(?P<any>\.\.\.)\]|\.?(?P<name>[^.\[\]]+)")
"""A step on the way that it names; `[...]` is any key of a table that may have any."""


def typed(value: object, kind: type[T], key: str = "") -> T:
    """Return a JSON value as one of its type. Keys that the type does not have may have any value.

    Tables stay as they were written, with all keys, unless the type is a dataclass.

    Raises:
        UserError: the value is not of the type; the line names the key, behind `key`, and what is allowed.
    """
    way: Way = [key] if key else []
    _require_numbers(value, way)
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise UserError(_refusal(str(error), value, kind, way)) from None
    return converted if is_dataclass(kind) else cast("T", value)


def _refusal(message: str, value: object, kind: type[object], above: Way) -> str:
    """Return what msgspec says of a value in the words of dumbbell."""
    said = _SAID.fullmatch(message)
    if said is None:
        return message
    way = [*above, *_way(said["place"] or "", value, kind)]
    if said["missing"]:
        return f"key {_named([*way, said['missing']])} is missing"
    kinds = said["kinds"].split(" | ")
    allowed = [_NOUNS[each] for each in kinds if each in _NOUNS and not (each == "int" and "float" in kinds)]
    return f"{_named(way)}: allowed is {' or '.join(allowed)}"


def _way(place: str, value: object, kind: type[object]) -> Way:
    """Return the way to what msgspec refuses; the first key that is at fault where it names none."""
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
    """Return a value with another part at the end of a way."""
    if not way:
        return part
    changed = value.copy()
    changed[way[0]] = _replaced(value[way[0]], way[1:], part)
    return changed


def _require_numbers(value: object, way: Way) -> None:
    """Refuse numbers that dumbbell never writes, wherever they are in a value."""
    if isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            if type(each) is float or type(each) is int:  # nearly all are: quicker than `isinstance`
                if not -_MOST_COUNT <= each <= _MOST_COUNT:
                    _require_numbers(each, [*way, name])
            elif isinstance(each, dict | list | int | float):
                _require_numbers(each, [*way, name])
    elif isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{_named(way)} = {value:g}: allowed is a finite number")
    elif isinstance(value, int) and not -_MOST_COUNT - 1 <= value <= _MOST_COUNT:
        raise UserError(f"{_named(way)} = {value}: allowed is up to {_MOST_COUNT}")


def _named(way: Way) -> str:
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return f"`{steps.removeprefix('.')}`" if steps else "the file"
