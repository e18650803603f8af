"""Strict reading of TOML tables: every key is known, typed and ranged, or the reader stops with one line."""

import datetime
import math
import re
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.input_files import TOML, read_text

MOST_NESTED = 32
MOST_TITLE = 4000
"""Letters of the title of a path or an experiment: a cell's says all that its grid has changed."""
MOST_LABEL = 200
"""Letters of the title of a scheme: figures measure and draw it many times."""
_DOTTED = re.compile(rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{8 * MOST_NESTED}}}""")
"""More names with dots between them than any text has, wherever they stand."""
MOST_NAMES = 1_000_000
"""A name takes a kilobyte of memory while it is read."""
TOO_DEEP = f"tables and lists are nested too deeply: allowed are {MOST_NESTED} levels"
TOO_LONG = "a whole number is too long: allowed are 64 bits, with the sign"


def read_toml(file: Path | Entry, *, wide: bool = False) -> "TomlTable":
    """The TOML file as a table that checks itself; `wide` as of `parse_toml`.

    Raises:
        UserError: the file cannot be read or is not TOML; the line names the file.
    """
    try:
        text = read_text(file, TOML)
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file (UTF-8)") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    return parse_toml(text, str(file), wide=wide)


def parse_toml(text: str, source: str, *, wide: bool = False) -> "TomlTable":
    """The TOML text as a table that checks itself; `source` is what messages call it.

    Dates and infinite numbers are refused wherever they stand; with `wide` the readers `date` and `interval` take them.

    Raises:
        UserError: it is not TOML.
    """
    if sum(map(text.count, "=[.")) > MOST_NAMES:  # not fewer than there are names, and lists
        raise UserError(f"{source}: has too many names: allowed are {MOST_NAMES}")
    if _DOTTED.search(text):  # Python's reader takes the square of their number
        raise UserError(f"{source}: {TOO_DEEP}")
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{source}: {TOO_DEEP}") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise UserError(f"{source}: {TOO_LONG}") from None
    for key, value in raw.items():
        _check_values(value, key, source, 1, wide)
    return TomlTable(raw, source)


def to_toml(table: dict[str, object]) -> str:
    """TOML text that reads back as the same values."""
    import tomli_w

    text = tomli_w.dumps(table)
    if tomllib.loads(text) != table:
        raise AssertionError("a TOML document does not read back as it was written")
    return text


def _check_values(value: object, key: str, file: str, depth: int, wide: bool) -> None:
    """Refuses what TOML has and no key of ours takes: dates, numbers that are none or have no end, endless nesting."""
    if depth > MOST_NESTED:
        raise UserError(f"{file}: {TOO_DEEP}")
    if isinstance(value, dict):
        for inner, item in value.items():
            _check_values(item, f"{key}.{inner}", file, depth + 1, wide)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check_values(item, f"{key}[{index}]", file, depth + 1, wide)
    elif isinstance(value, int) and abs(value) >= 2**63:
        raise UserError(f"{file}: `{key}`: {TOO_LONG}")
    elif isinstance(value, float) and not math.isfinite(value) and not wide:
        raise UserError(f"{file}: `{key}` = {value}: allowed is no infinity and nothing that is not a number")
    elif isinstance(value, datetime.date | datetime.time) and not wide:
        raise UserError(f"{file}: `{key}` = {value}: allowed is no date or time; write it as a text")


class TomlTable:
    """One table of a file. Reading a key marks it as known; `finish` refuses the keys that were not read."""

    def __init__(self, raw: dict[str, object], source: str, prefix: str = "") -> None:
        self.raw = raw
        self.source = source
        self.prefix = prefix
        self.known: list[str] = []

    def fail(self, key: str, value: object, allowed: str) -> UserError:
        """The error for a value that is not allowed."""
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        return UserError(f"{self.source}: `{self.prefix}{key}` = {shown}: allowed is {allowed}")

    def has(self, key: str) -> bool:
        """Whether the table has the key (which becomes known)."""
        if key not in self.known:
            self.known.append(key)
        return key in self.raw

    def _take(self, key: str, default: object, allowed: str) -> Any:  # noqa: ANN401 (TOML values are untyped)
        if self.has(key):
            return self.raw[key]
        if default is None:
            raise UserError(f"{self.source}: key `{self.prefix}{key}` is missing: needed is {allowed}")
        return default

    def title(self, key: str, default: str | None = None, most: int = MOST_TITLE) -> str:
        """A text that figures draw and pages repeat, of up to so many letters."""
        value = self.text(key, default)
        if len(value) > most:
            raise self.fail(key, f"{value[:80]}...", f"a text of up to {most} letters")
        return value

    def text(self, key: str, default: str | None = None, choices: Collection[str] = ()) -> str:
        """A text, one of `choices` if there are any."""
        allowed = f"one of {listed(choices)}" if choices else "a text"
        value = self._take(key, default, allowed)
        if not isinstance(value, str) or (choices and value not in choices):
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise self.fail(key, value, allowed + hint)
        return value

    def number(self, key: str, default: float | None = None, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number in `least..=most`."""
        allowed = _range("a number", least, most)
        value = self._take(key, default, allowed)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(key, value, allowed)
        if not abs(value) <= sys.float_info.max or not least <= value <= most:
            raise self.fail(key, value, allowed)
        return float(value)

    def integer(self, key: str, default: int | None = None, least: int = 0, most: int = 2**53) -> int:
        """A whole number in `least..=most`."""
        allowed = _range("a whole number", least, most if most < 2**53 else math.inf)
        value = self._take(key, default, allowed)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self.fail(key, value, allowed)
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._take(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.fail(key, value, "true or false")
        return value

    def date(self, key: str) -> datetime.date:
        """A day, without a time."""
        allowed = "a date, for example 2026-11-28"
        value = self._take(key, None, allowed)
        if type(value) is not datetime.date:  # a date with a time is one too
            raise self.fail(key, value, allowed)
        return value

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """A list of texts; a single text counts as a list of one."""
        value = self._take(key, default, "a list of texts")
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise self.fail(key, value, "a list of texts")
        return list(items)

    def values(self, key: str) -> list[Any]:
        """A list of any values, at least one; a single value counts as a list of one."""
        value = self._take(key, None, "a list of values")
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self.fail(key, value, "a list of at least one value")
        return values

    def numbers(self, key: str, least: float = -math.inf, most: float = math.inf) -> list[float]:
        """A list of numbers in `least..=most`, at least one."""
        return [
            TomlTable({key: item}, self.source, self.prefix).number(key, None, least, most) for item in self.values(key)
        ]

    def interval(self, key: str) -> tuple[float, float]:
        """The smallest and the largest value allowed; infinite where there is no limit."""
        allowed = "[smallest, largest]"
        value = self._take(key, None, allowed)
        if not isinstance(value, list) or len(value) != 2 or not all(type(each) in (int, float) for each in value):
            raise self.fail(key, value, allowed)
        if not value[0] <= value[1]:  # nor is what is not a number
            raise self.fail(key, value, allowed)
        return float(value[0]), float(value[1])

    def table(self, key: str) -> "TomlTable":
        """A table; empty if the key is absent."""
        value = self._take(key, {}, "a table")
        if not isinstance(value, dict):
            raise self.fail(key, value, "a table")
        return TomlTable(value, self.source, f"{self.prefix}{key}.")

    def tables(self, key: str, named_by: str = "") -> list["TomlTable"]:
        """A list of tables; empty if the key is absent. Messages call each by its key `named_by`, else by its place."""
        value = self._take(key, [], "a list of tables")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fail(key, value, "a list of tables")
        names = [item.get(named_by, place) for place, item in enumerate(value)]
        return [
            TomlTable(item, self.source, f"{self.prefix}{key}[{name}].")
            for name, item in zip(names, value, strict=True)
        ]

    def finish(self) -> None:
        """Refuses keys that were not read.

        Raises:
            UserError: names the first unknown key, the closest known one and all known ones.
        """
        for key in self.raw:
            if key not in self.known:
                hint = nearest(key, self.known)
                raise UserError(
                    f"{self.source}: unknown key `{self.prefix}{key}`{hint}: allowed are {listed(self.known)}"
                )


def _range(noun: str, least: float, most: float) -> str:
    if math.isinf(least) and math.isinf(most):
        return noun
    if math.isinf(most):
        return f"{noun}, at least {least:g}"
    return f"{noun} from {least:g} to {most:g}"
