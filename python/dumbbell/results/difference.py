"""Difference of an experiment from the experiment of existing results, in words."""

import json
from collections.abc import Iterator
from typing import Any

MOST_SHOWN = 4
_MOST_LETTERS = 60
_ABSENT = object()


def difference(old_table: dict[str, object], new_table: dict[str, object]) -> str:
    """Return the first keys with different values: `` `duration_s`: 30.0 there, 10.0 now; ...

    ``; empty if none differs.
    """
    changes = [f"`{key}`: {_brief(old)} there, {_brief(new)} now" for key, old, new in _differing(old_table, new_table)]
    more = [f"{len(changes) - MOST_SHOWN} more"] if len(changes) > MOST_SHOWN else []
    return "; ".join(changes[:MOST_SHOWN] + more)


def _differing(old: Any, new: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 (TOML values)
    """Yield every key with different values, and these; tables, and lists of equal length, are compared inside."""
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
    """Return a value as people read it, not longer than a line has room for."""
    if value is _ABSENT:
        return "none"
    if isinstance(value, dict):
        return "a table"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."
