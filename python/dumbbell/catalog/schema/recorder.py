"""A table that notes how it is read: the readers of TOML files say by it what may stand in one."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from dumbbell.catalog.toml_tables import TomlTable

Schema = dict[str, Any]
"""A JSON Schema, draft-07."""

_SOME_TEXT = "x"


class Recorder(TomlTable):
    """A table that has every key, and notes for each what its reader allows.

    `answers` are the values of keys on which other keys depend, or whose values have a form of their own. Keys in
    `absent` are not there, in tables within it neither.
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
        """Return the schema of the table: the keys that were read. A table of which no key was read takes any."""
        nested = {key: table.schema() for key, table in self._nested.items()}
        properties = {key: _within(own, nested.get(key)) for key, own in self.properties.items()}
        if not properties:
            return {"type": "object"}
        required = {"required": self.required} if self.required else {}
        return {"type": "object", "properties": properties, "additionalProperties": False} | required

    def has(self, key: str) -> bool:
        """Return whether the key is not absent; a key that its reader asks for is not needed."""
        self._asked.add(key)
        return key not in self._absent

    def finish(self) -> None:
        """Refuse nothing: the table has no keys of its own."""

    def text(self, key: str, default: str | None = None, choices: Collection[str] = ()) -> str:
        """Note a text."""
        self._note(key, {"type": "string"} | ({"enum": list(choices)} if choices else {}), default)
        return str(self._answer(key, default, next(iter(choices), _SOME_TEXT)))

    def number(self, key: str, default: float | None = None, least: float = -math.inf, most: float = math.inf) -> float:
        """Note a number."""
        self._note(key, {"type": "number"} | _limits(least, most), default)
        return float(self._answer(key, default, _between(least, most)))

    def integer(self, key: str, default: int | None = None, least: int = 0, most: int = 2**53) -> int:
        """Note a whole number."""
        self._note(key, {"type": "integer"} | _limits(least, most if most < 2**53 else math.inf), default)
        return int(self._answer(key, default, least))

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Note a switch."""
        self._note(key, {"type": "boolean"}, default)
        return bool(self._answer(key, default, False))

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """Note a list of texts, or one text."""
        self._note(key, {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, default)
        return list(self._answer(key, default, [_SOME_TEXT]))

    def values(self, key: str) -> list[Any]:
        """Note a list of anything, or one thing."""
        self._note(key, {}, None)
        return [_SOME_TEXT]

    def numbers(self, key: str, least: float = -math.inf, most: float = math.inf) -> list[float]:
        """Note a list of numbers, or one number."""
        one = {"type": "number"} | _limits(least, most)
        self._note(key, {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}, None)
        return [_between(least, most)]

    def table(self, key: str) -> "Recorder":
        """Note a table; what is read of it is noted too."""
        self.properties.setdefault(key, {"type": "object"})
        return self._nested.setdefault(key, Recorder(self._answers.get(key), self._absent))

    def tables(self, key: str, named_by: str = "") -> list[TomlTable]:
        """Note a list of tables; what is read of the one that it has is noted too."""
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
    """What the table has, for readers that look at it themselves: no key to go through, and an answer under each."""

    def __init__(self, answers: Mapping[str, object]) -> None:
        super().__init__()
        self._answers = answers

    def __missing__(self, key: str) -> object:
        return self._answers.get(key, _SOME_TEXT)


def _within(own: Schema, nested: Schema | None) -> Schema:
    if nested is None:
        return own
    return own | ({"items": nested} if own["type"] == "array" else nested)


def _limits(least: float, most: float) -> Schema:
    limits = {"minimum": least, "maximum": most}
    return {key: int(value) if value == int(value) else value for key, value in limits.items() if math.isfinite(value)}


def _between(least: float, most: float) -> float:
    return min(max(1.0, least), most)
