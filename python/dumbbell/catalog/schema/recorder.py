"""A table that records the calls of its reader, and makes a schema from them."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from dumbbell.catalog.toml_tables import TomlTable

Schema = dict[str, Any]
"""A JSON Schema, draft-07."""

_SOME_TEXT = "x"


class Recorder(TomlTable):
    """A table that has every key, and records the values that its reader allows.

    `answers` are the values of keys on which other keys depend, or whose values need a certain form. Keys in `absent`
    are missing, also in nested tables.
    """

    def __init__(self, answers: Mapping[str, Any] | None = None, absent: Collection[str] = ()) -> None:
        self._answers = dict(answers or {})
        super().__init__(_Answers(self._answers), "schema")
        self._absent = absent
        self._asked: set[str] = set()
        self.properties: dict[str, Schema] = {}
        self.required: list[str] = []
        self._nested: dict[str, Recorder] = {}

    def schema(self) -> Schema:
        """Return the schema of the table: the keys that were read. A table without read keys takes any keys."""
        nested_schemas = {key: table.schema() for key, table in self._nested.items()}
        properties = {key: _within(property_, nested_schemas.get(key)) for key, property_ in self.properties.items()}
        if not properties:
            return {"type": "object"}
        required_keys = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": properties, "additionalProperties": False} | required_keys

    def has(self, key: str) -> bool:
        """Return True if the key is not absent. A key that the reader tests in this way is optional."""
        self._asked.add(key)
        return key not in self._absent

    def finish(self) -> None:
        """Do nothing: the table has no keys of its own."""

    def text(self, key: str, default: str | None = None, choices: Collection[str] = ()) -> str:
        """Record a string."""
        self._note(key, {"type": "string"} | ({"enum": list(choices)} if choices else {}), default)
        return str(self._answer(key, default, next(iter(choices), _SOME_TEXT)))

    def number(
        self, key: str, default: float | None = None, minimum: float = -math.inf, maximum: float = math.inf
    ) -> float:
        """Record a number."""
        self._note(key, {"type": "number"} | _limits(minimum, maximum), default)
        return float(self._answer(key, default, _between(minimum, maximum)))

    def integer(self, key: str, default: int | None = None, minimum: int = 0, maximum: int = 2**53) -> int:
        """Record an integer."""
        self._note(key, {"type": "integer"} | _limits(minimum, maximum if maximum < 2**53 else math.inf), default)
        return int(self._answer(key, default, minimum))

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Record a switch."""
        self._note(key, {"type": "boolean"}, default)
        return bool(self._answer(key, default, False))

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """Record a list of strings, or one string."""
        self._note(key, {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, default)
        return list(self._answer(key, default, [_SOME_TEXT]))

    def values(self, key: str) -> list[Any]:
        """Record a list of any values, or one value."""
        self._note(key, {}, None)
        return [_SOME_TEXT]

    def numbers(self, key: str, minimum: float = -math.inf, maximum: float = math.inf) -> list[float]:
        """Record a list of numbers, or one number."""
        number_schema = {"type": "number"} | _limits(minimum, maximum)
        self._note(key, {"anyOf": [number_schema, {"type": "array", "items": number_schema, "minItems": 1}]}, None)
        return [_between(minimum, maximum)]

    def table(self, key: str) -> "Recorder":
        """Record a table, and the reads of its keys."""
        self.properties.setdefault(key, {"type": "object"})
        return self._nested.setdefault(key, Recorder(self._answers.get(key), self._absent))

    def tables(self, key: str, named_by: str = "") -> list[TomlTable]:
        """Record a list of tables, and the reads of the keys of its single table."""
        self.properties.setdefault(key, {"type": "array"})
        return [self._nested.setdefault(key, Recorder(self._answers.get(key), self._absent))]

    def _note(self, key: str, schema: Schema, default: object) -> None:
        if key in self.properties:
            return
        holds = default not in (None, "", []) and key not in self._asked
        self.properties[key] = schema | ({"default": default} if holds else {})
        if default is None and key not in self._asked:
            self.required.append(key)

    def _answer(self, key: str, default: object, otherwise: object) -> Any:  # noqa: ANN401 (TOML values are untyped)
        return self._answers.get(key, otherwise if default is None else default)


class _Answers(dict[str, object]):
    """Content of the table for readers that access it directly: no keys to iterate, but an answer for each key."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        super().__init__()
        self._answers = answers

    def __missing__(self, key: str) -> object:
        return self._answers.get(key, _SOME_TEXT)


def _within(outer: Schema, inner: Schema | None) -> Schema:
    if inner is None:
        return outer
    return outer | ({"items": inner} if outer["type"] == "array" else inner)


def _limits(minimum: float, maximum: float) -> Schema:
    limits = {"minimum": minimum, "maximum": maximum}
    return {key: int(value) if value == int(value) else value for key, value in limits.items() if math.isfinite(value)}


def _between(minimum: float, maximum: float) -> float:
    return min(max(1.0, minimum), maximum)
