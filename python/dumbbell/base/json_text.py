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
"""That of files of results, which may have an imported object inside."""

_ACTED_UPON = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Control characters of other than ASCII, which JSON escapes anyway, and what changes the direction of text."""
_MOST_VALUES = 4_000_000
"""Maximum number of commas, and so of values: the statistics of ten thousand flows have 700,000.

A value takes a hundred bytes of memory or more.
"""
_MOST_DIGITS = 20
"""Of a whole number: what is counted has 64 bits."""
_MOST_DAMAGED = 100
"""Maximum number of damaged parts of a text: each may be read to its end before that is known."""
_BLANK = re.compile(r"[ \t\n\r]*")


class BadJson(ValueError):
    """What is wrong with a text that should be JSON, and in which line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse_json(text: str, most_depth: int = MOST_DEPTH) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the value of a text that may come from anybody.

    Raises:
        BadJson: it is not JSON, or has what no JSON of ours has: millions of values, long numbers, numbers that are not
            finite, deep nesting, halves of characters.
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
    """An object or list of a text, or what stands between: then `problem` says why it is none."""

    line: int
    value: Any = None
    problem: str | None = None
    is_text: bool = False
    """Whether it is a line of something else than JSON, which `problem` then is."""


def json_parts(text: str, most_values: int = _MOST_VALUES) -> Iterator[JsonPart]:
    """Yield the objects and lists of a text that may come from anybody, and the lines between them.

    What is damaged goes on until a line begins with a brace.

    Raises:
        BadJson: it has more than `most_values` values, or a hundred damaged parts.
    """
    if text.count(",") > most_values:
        raise BadJson(1, f"has too many values: allowed are {most_values}")
    at, line, counted, damaged = 0, 1, 0, 0
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            return
        line, counted = line + text.count("\n", counted, at), at
        if text[at] not in "{[":
            begin, at = at, _end_of(text, "\n", at)
            yield JsonPart(line, problem=text[begin:at], is_text=True)
            continue
        try:
            value, at = _value(text, at, line, MOST_DEPTH)
            yield JsonPart(line, value)
        except BadJson as error:
            damaged += 1
            if damaged > _MOST_DAMAGED:
                raise BadJson(line, f"has more than {_MOST_DAMAGED} damaged parts") from None
            yield JsonPart(error.line, problem=error.reason)
            at = _end_of(text, "\n{", at)


def _end_of(text: str, mark: str, at: int) -> int:
    found = text.find(mark, at)
    return found if found >= 0 else len(text)


def _value(text: str, begin: int, line: int, most_depth: int) -> tuple[Any, int]:
    """Return the JSON value that begins at a place of a text, in the given line, and where it ends.

    Raises:
        BadJson: there is none, or one that nobody should read.
    """
    try:
        value, end = _DECODER.raw_decode(text, begin)
        if text.find("\\ud", begin, end) >= 0 or text.find("\\uD", begin, end) >= 0:
            # halves of characters are written like this only
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
    """Return whether objects and lists are nested deeper than `most_depth`."""
    level = [value]
    for _ in range(most_depth):
        inside: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inside.extend(each.values())
            elif isinstance(each, list):
                inside.extend(each)
        level = [each for each in inside if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def read_json(file: Path | Entry, kind: type[T]) -> T:
    """Return the value of a file that dumbbell wrote, or somebody in its place, as one of its type.

    Raises:
        FileNotFoundError, NotADirectoryError: there is none.
        UserError: the file cannot be read; the line says where it is damaged, or names the key and what is allowed.
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
    """JSON on indented lines; numbers that JSON has no word for become null.

    Characters that a terminal would act upon are escaped; they can only be in texts.
    """
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False)
    return (text if text.isascii() else _ACTED_UPON.sub(_escaped, text)) + "\n"


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _finite(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
