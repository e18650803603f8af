"""How an experiment differs from the one that results belong to, in words."""

import json
from collections.abc import Iterator
from typing import Any

MOST_SHOWN = 4
_MOST_LETTERS = 60
_ABSENT = object()


def difference(there: dict[str, object], now: dict[str, object]) -> str:
    """`` `duration_s`: 30.0 there, 10.0 now; ... ``: keys whose values differ, the first few; empty if none does."""
    found = [f"`{key}`: {_brief(old)} there, {_brief(new)} now" for key, old, new in _differing(there, now)]
    more = [f"{len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    return "; ".join(found[:MOST_SHOWN] + more)


def _differing(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 (TOML values)
    """Every key that leads to different values, with those: of tables and lists of the same length their own."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            inner = f"{key}.{name}" if key else str(name)
            yield from _differing(old.get(name, _ABSENT), new.get(name, _ABSENT), inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and _tables(old) and _tables(new):
        for index, (first, second) in enumerate(zip(old, new, strict=True)):
            yield from _differing(first, second, f"{key}[{index}]")
    elif old != new:
        yield key, old, new


def _tables(values: list[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)


def _brief(value: object) -> str:
    """A value as one reads it, not longer than a line takes."""
    if value is _ABSENT:
        return "none"
    if isinstance(value, dict):
        return "a table"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."
