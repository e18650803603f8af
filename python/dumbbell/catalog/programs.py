"""Real programs as schemes: the commands of both sides, and the signal that the first side is ready."""

import re
import shlex
import string
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.base.errors import listed, nearest
from dumbbell.catalog.toml_tables import TomlTable

SIDES = ("receiver", "sender")
RUN_PLACEHOLDERS = ("ip", "port", "duration", "duration_s", "flow", "directory", "samples", "qlog")
"""Placeholders whose values are known only when the flow starts. The core fills them in."""

_READY = re.compile(r"listen|output:.+|wait:(\d+(\.\d+)?|\.\d+)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Program:
    """Two commands, as lists of words. Words may contain placeholders in braces; `{{` and `}}` are literal braces."""

    sender: tuple[str, ...]
    receiver: tuple[str, ...]
    first: str = "receiver"
    ready: str = "listen"
    ready_timeout_s: float = 10.0
    environment: dict[str, str] = field(default_factory=dict)
    requires: tuple[str, ...] = ()

    def table(self) -> dict[str, object]:
        """Return the table `[scheme.NAME.program]`."""
        return {
            "sender": list(self.sender),
            "receiver": list(self.receiver),
            "first": self.first,
            "ready": self.ready,
            "ready_timeout_s": self.ready_timeout_s,
            "environment": dict(self.environment),
            "requires": list(self.requires),
        }

    def spec(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Return the program for the core, with the placeholders filled in whose values are known before the run."""
        value_of = {**parameters, "python": sys.executable}
        return {
            "sender": [_fill(word, value_of) for word in self.sender],
            "receiver": [_fill(word, value_of) for word in self.receiver],
            "first": self.first,
            "ready": self.ready,
            "ready_timeout_s": self.ready_timeout_s,
            "environment": dict(self.environment),
        }


def parse_program(table: TomlTable, parameters: Mapping[str, str]) -> Program:
    """Return the `[program]` table of a scheme with these parameters."""
    for name in parameters:
        if name in (*RUN_PLACEHOLDERS, "python"):
            raise table.fail("parameters", name, f"any name but {listed((*RUN_PLACEHOLDERS, 'python'))}")
    commands = {side: _command(table, side, parameters) for side in SIDES}
    first_words = dict.fromkeys(words[0] for words in commands.values() if "{" not in words[0])
    ready = table.text("ready", "listen")
    if not _READY.fullmatch(ready):
        raise table.fail("ready", ready, "listen, output:TEXT or wait:SECONDS")
    program = Program(
        sender=commands["sender"],
        receiver=commands["receiver"],
        first=table.text("first", "receiver", SIDES),
        ready=ready,
        ready_timeout_s=table.number("ready_timeout_s", 10.0, minimum=0.1, maximum=3600.0),
        environment=_environment(table.table("environment")),
        requires=tuple(table.texts("requires", list(first_words))),
    )
    table.finish()
    return program


def _command(table: TomlTable, side: str, parameters: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of one side's command, from a list, or from a string that is split as by a shell."""
    words = table.texts(side)
    line = table.raw[side]
    if isinstance(line, str):
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise table.fail(side, line, f"a command line ({str(error).lower()})") from None
    if not words or not words[0]:
        raise table.fail(side, table.raw[side], "a command with at least one word")
    known_placeholders = (*RUN_PLACEHOLDERS, "python", *parameters)
    for word in words:
        if "\0" in word:
            raise table.fail(side, word, "words without a null character")
        try:
            names = placeholders(word)
        except ValueError:
            raise table.fail(side, word, "placeholders like {port}; a brace itself is {{ or }}") from None
        for name in names:
            if name not in known_placeholders:
                placeholder = f"{{{name}}}"
                raise table.fail(
                    side,
                    placeholder,
                    f"one of {listed(known_placeholders)} in braces{nearest(name, known_placeholders)}",
                )
    return tuple(words)


def placeholders(word: str) -> list[str]:
    """Return the names in braces in a word.

    Raises:
        ValueError: If a brace has no partner, or if the braces contain more than a name.
    """
    names = []
    for _, name, form, conversion in string.Formatter().parse(word):
        if name is None:
            continue
        if not name or form or conversion or word.count(f"{{{name}}}") == 0:
            raise ValueError(word)
        names.append(name)
    return names


def _fill(word: str, value_of: Mapping[str, str]) -> str:
    """Return the word with known placeholders filled in. The others stay for the core."""
    parts = []
    for text, name, _, _ in string.Formatter().parse(word):
        parts.append(escaped(text))
        if name is not None:
            parts.append(escaped(value_of[name]) if name in value_of else f"{{{name}}}")
    return "".join(parts)


def escaped(text: str) -> str:
    """Return a text as a part of a word, with escaped braces."""
    return text.replace("{", "{{").replace("}", "}}")


def unescaped(text: str) -> str:
    """Return a word as the program receives it: the inverse of `escaped`."""
    return text.replace("{{", "{").replace("}}", "}")


def _environment(table: TomlTable) -> dict[str, str]:
    for key, value in table.raw.items():
        if not _VARIABLE.fullmatch(key):
            raise table.fail(key, value, "letters, digits and `_` in the name of a variable")
        if not isinstance(value, str) or "\0" in value:
            raise table.fail(key, value, "a text")
    return {key: str(value) for key, value in table.raw.items()}
