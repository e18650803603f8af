"""JSON for programs and for people."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.input_files import JSON, read_text

T = TypeVar("T")

MOST_DEPTH = 50
"""Maximum nesting of objects and lists in what others wrote: code that walks a value recurses."""
_OWN_DEPTH = MOST_DEPTH + 10
"""Maximum nesting in files of results, which may contain an imported object."""

_ACTED_UPON = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Non-ASCII control characters and characters that change the direction of text. JSON escapes the ASCII ones."""
_MOST_VALUES = 4_000_000
"""Maximum number of commas, a bound on the number of values. The statistics of ten thousand flows have 700,000.

Each value takes a hundred bytes of memory or more."""
_MOST_DIGITS = 20
"""Maximum number of digits of an integer: counters have 64 bits."""
_MOST_DAMAGED = 100
"""Maximum number of damaged parts of a text. Each may be read to its end before the damage shows."""
_BLANK = re.compile(r"[ \t\n\r]*")


class BadJson(ValueError):
    """Error of a text that should be JSON: the line, and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse_json(text: str, most_depth: int = MOST_DEPTH) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the value of a JSON text from an untrusted source.

    Raises:
        BadJson: If the text is not JSON, or has features that dumbbell never writes: millions of values, long numbers,
            numbers that are not finite, deep nesting, lone surrogates.
    """
    if text.count(",") > _MOST_VALUES:
        raise BadJson(1, f"has too many values: allowed are {_MOST_VALUES}")
    begin = _BLANK.match(text).end()  # type: ignore[union-attr]
    value, end = _value(text, begin, 1, most_depth)
    end = _BLANK.match(text, end).end()  # type: ignore[union-attr]
    if end < len(text):
        raise BadJson(text.count("\n", 0, end) + 1, "not valid JSON: Extra data")
    return value


@dataclass(frozen=True)
class JsonPart:
    """An object or list of a text, or the text between two of them. For such a text `problem` contains the reason."""

    line: int
    value: Any = None
    problem: str | None = None
    is_text: bool = False
    """True if `problem` is a line of text that is not JSON."""


def json_parts(text: str, most_values: int = _MOST_VALUES) -> Iterator[JsonPart]:
    """Yield the objects and lists of a text from an untrusted source, and the lines between them.

    A damaged part ends where a line begins with a brace.

    Raises:
        BadJson: If the text has more than `most_values` values, or a hundred damaged parts.
    """
    if text.count(",") > most_values:
        raise BadJson(1, f"has too many values: allowed are {most_values}")
    at, line, counted_to, damaged_count = 0, 1, 0, 0
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return
        line, counted_to = line + text.count("\n", counted_to, at), at
        if text[at] not in "{[":
            begin, at = at, _end_of(text, "\n", at)
            yield JsonPart(line, problem=text[begin:at], is_text=True)
            continue
        try:
            value, at = _value(text, at, line, MOST_DEPTH)
            yield JsonPart(line, value)
        except BadJson as error:
            damaged_count += 1
            if damaged_count > _MOST_DAMAGED:
                raise BadJson(line, f"has more than {_MOST_DAMAGED} damaged parts") from None
            yield JsonPart(error.line, problem=error.reason)
            at = _end_of(text, "\n{", at)


def _end_of(text: str, mark: str, at: int) -> int:
    position = text.find(mark, at)
    return position if position >= 0 else len(text)


def _value(text: str, begin: int, line: int, most_depth: int) -> tuple[Any, int]:
    """Return the JSON value at the index `begin` of a text, in the given line, and the index of its end.

    Raises:
        BadJson: If there is no value, or if it has forbidden features.
    """
    try:
        value, end = _DECODER.raw_decode(text, begin)
        if text.find("\\ud", begin, end) >= 0 or text.find("\\uD", begin, end) >= 0:
            # JSON writes a lone surrogate only as an escape
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise BadJson(error.lineno, f"not valid JSON: {error.msg}") from None
    except BadJson as error:
        raise BadJson(line, error.reason) from None
    except RecursionError:
        raise BadJson(line, f"nested too deeply: allowed are {most_depth} levels") from None
    except UnicodeEncodeError:
        raise BadJson(line, "has half of a character (a lone surrogate)") from None
    brackets = text.count("[", begin, end) + text.count("{", begin, end)
    if brackets > most_depth and _is_deeper(value, most_depth):
        raise BadJson(line, f"nested too deeply: allowed are {most_depth} levels")
    return value, end


def _is_deeper(value: object, most_depth: int) -> bool:
    """Return True if objects and lists are nested deeper than `most_depth`."""
    level = [value]
    for _ in range(most_depth):
        inside: list[object] = []
        for container in level:
            if isinstance(container, dict):
                inside.extend(container.values())
            elif isinstance(container, list):
                inside.extend(container)
        level = [item for item in inside if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def read_json(file: Path | Entry, kind: type[T]) -> T:
    """Return the value of a JSON file of dumbbell, checked against its type.

    Raises:
        FileNotFoundError, NotADirectoryError: If the file does not exist.
        UserError: If the file is invalid; the message has the damaged line, or the key and the allowed values.
    """
    from dumbbell.base.json_types import typed  # what only writes JSON starts without it

    try:
        value = parse_json(read_text(file, JSON), _OWN_DEPTH)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}; the file is cut off or damaged") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {one_line(error)}") from None
    try:
        return typed(value, kind)
    except UserError as error:
        raise UserError(f"{file}: {error}") from None


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise BadJson(1, f"has a number of {len(digits)} digits")
    return int(digits)


def _number(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise BadJson(1, f"has the number {word[:20]}: allowed are finite ones")
    return value


_DECODER = json.JSONDecoder(parse_int=_whole, parse_float=_number, parse_constant=_number)


def to_json(value: object) -> str:
    """Return JSON with indented lines. Numbers that are not finite become null.

    Control characters for terminals are escaped. Only strings can contain them.
    """
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False)
    return (text if text.isascii() else _ACTED_UPON.sub(_escaped, text)) + "\n"


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _finite(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
