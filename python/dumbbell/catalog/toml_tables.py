"""Strict reading of TOML tables: every key is known, typed and in range, or the error is one line."""

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
"""Maximum length of the title of a path or an experiment, characters. A cell's title contains all values of its
grid."""
MOST_LABEL = 200
"""Maximum length of the title of a scheme, characters. Figures measure and draw it many times."""
_DOTTED = re.compile(rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{8 * MOST_NESTED}}}""")
"""More dotted names in a row than any valid text has."""
MOST_NAMES = 1_000_000
"""Maximum number of names. A name takes a kilobyte of memory while it is read."""
TOO_DEEP = f"tables and lists are nested too deeply: allowed are {MOST_NESTED} levels"
TOO_LONG = "a whole number is too long: allowed are 64 bits, with the sign"


def read_toml(file: Path | Entry, *, wide: bool = False) -> "TomlTable":
    """Return the TOML file as a table that checks itself; `wide` as for `parse_toml`.

    Raises:
        UserError: If the file cannot be read or is not TOML; the message names the file.
    """
    try:
        text = read_text(file, TOML)
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file (UTF-8)") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    return parse_toml(text, str(file), wide=wide)


def parse_toml(text: str, source: str, *, wide: bool = False) -> "TomlTable":
    """Return the TOML text as a table that checks itself; messages call the text `source`.

    Dates and infinite numbers are refused, unless `wide`: then the methods `date` and `interval` read them.

    Raises:
        UserError: If the text is not TOML.
    """
    if sum(map(text.count, "=[.")) > MOST_NAMES:  # an upper bound for names and lists
        raise UserError(f"{source}: has too many names: allowed are {MOST_NAMES}")
    if _DOTTED.search(text):  # Python's reader takes quadratic time for them
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
    """Return TOML text for a table. Reading it gives equal values."""
    import tomli_w

    text = tomli_w.dumps(table)
    if tomllib.loads(text) != table:
        raise AssertionError("a TOML document does not read back as it was written")
    return text


def _check_values(value: object, key: str, file: str, depth: int, wide: bool) -> None:
    """Raise an error for values that TOML has but no key of dumbbell takes: dates, non-finite numbers, deep nesting."""
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
    """A table of a file. Reading a key marks it as known; `finish` refuses the keys that were not read."""

    def __init__(self, raw: dict[str, object], source: str, prefix: str = "") -> None:
        self.raw = raw
        self.source = source
        self.prefix = prefix
        self.known: list[str] = []

    def fail(self, key: str, value: object, choices: str) -> UserError:
        """Return the error for a value that is not allowed; `choices` describes the allowed values."""
        value_text = f'"{value}"' if isinstance(value, str) else str(value)
        return UserError(f"{self.source}: `{self.prefix}{key}` = {value_text}: allowed is {choices}")

    def has(self, key: str) -> bool:
        """Return True if the table has the key, which becomes known."""
        if key not in self.known:
            self.known.append(key)
        return key in self.raw

    def _take(self, key: str, default: object, choices: str) -> Any:  # noqa: ANN401 (TOML values are untyped)
        if self.has(key):
            return self.raw[key]
        if default is None:
            raise UserError(f"{self.source}: key `{self.prefix}{key}` is missing: needed is {choices}")
        return default

    def title(self, key: str, default: str | None = None, maximum: int = MOST_TITLE) -> str:
        """Return a string that figures draw and pages repeat, of at most `maximum` characters."""
        value = self.text(key, default)
        if len(value) > maximum:
            raise self.fail(key, f"{value[:80]}...", f"a text of up to {maximum} letters")
        return value

    def text(self, key: str, default: str | None = None, choices: Collection[str] = ()) -> str:
        """Return a string, one of `choices` if they are given."""
        choices_text = f"one of {listed(choices)}" if choices else "a text"
        value = self._take(key, default, choices_text)
        if not isinstance(value, str) or (choices and value not in choices):
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise self.fail(key, value, choices_text + hint)
        return value

    def number(
        self, key: str, default: float | None = None, minimum: float = -math.inf, maximum: float = math.inf
    ) -> float:
        """Return a finite number in `minimum..=maximum`."""
        range_text = _range("a number", minimum, maximum)
        value = self._take(key, default, range_text)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(key, value, range_text)
        if not abs(value) <= sys.float_info.max or not minimum <= value <= maximum:
            raise self.fail(key, value, range_text)
        return float(value)

    def integer(self, key: str, default: int | None = None, minimum: int = 0, maximum: int = 2**53) -> int:
        """Return an integer in `minimum..=maximum`."""
        range_text = _range("a whole number", minimum, maximum if maximum < 2**53 else math.inf)
        value = self._take(key, default, range_text)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise self.fail(key, value, range_text)
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return True or False."""
        value = self._take(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.fail(key, value, "true or false")
        return value

    def date(self, key: str) -> datetime.date:
        """Return a date without a time."""
        form = "a date, for example 2026-11-28"
        value = self._take(key, None, form)
        if type(value) is not datetime.date:  # a datetime is a date, too
            raise self.fail(key, value, form)
        return value

    def texts(self, key: str, default: list[str] | None = None) -> list[str]:
        """Return a list of strings; a single string counts as a list of one."""
        value = self._take(key, default, "a list of texts")
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise self.fail(key, value, "a list of texts")
        return list(items)

    def values(self, key: str) -> list[Any]:
        """Return a list of any values, at least one; a single value counts as a list of one."""
        value = self._take(key, None, "a list of values")
        values = value if isinstance(value, list) else [value]
        if not values:
            raise self.fail(key, value, "a list of at least one value")
        return values

    def numbers(self, key: str, minimum: float = -math.inf, maximum: float = math.inf) -> list[float]:
        """Return a list of numbers in `minimum..=maximum`, at least one."""
        return [
            TomlTable({key: item}, self.source, self.prefix).number(key, None, minimum, maximum)
            for item in self.values(key)
        ]

    def interval(self, key: str) -> tuple[float, float]:
        """Return the smallest and the largest allowed value; infinite without a limit."""
        form = "[smallest, largest]"
        value = self._take(key, None, form)
        if not isinstance(value, list) or len(value) != 2 or not all(type(bound) in (int, float) for bound in value):
            raise self.fail(key, value, form)
        if not value[0] <= value[1]:  # False for NaN, too
            raise self.fail(key, value, form)
        return float(value[0]), float(value[1])

    def table(self, key: str) -> "TomlTable":
        """Return a table; empty if the key is absent."""
        value = self._take(key, {}, "a table")
        if not isinstance(value, dict):
            raise self.fail(key, value, "a table")
        return TomlTable(value, self.source, f"{self.prefix}{key}.")

    def tables(self, key: str, named_by: str = "") -> list["TomlTable"]:
        """Return a list of tables; empty if the key is absent.

        Messages name each by its key `named_by`, else by its index.
        """
        value = self._take(key, [], "a list of tables")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.fail(key, value, "a list of tables")
        names = [item.get(named_by, place) for place, item in enumerate(value)]
        return [
            TomlTable(item, self.source, f"{self.prefix}{key}[{name}].")
            for name, item in zip(names, value, strict=True)
        ]

    def finish(self) -> None:
        """Raise an error if the table has keys that were not read.

        Raises:
            UserError: If a key is unknown; the message has the closest known key and all known keys.
        """
        for key in self.raw:
            if key not in self.known:
                hint = nearest(key, self.known)
                raise UserError(
                    f"{self.source}: unknown key `{self.prefix}{key}`{hint}: allowed are {listed(self.known)}"
                )


def _range(noun: str, minimum: float, maximum: float) -> str:
    if math.isinf(minimum) and math.isinf(maximum):
        return noun
    if math.isinf(maximum):
        return f"{noun}, at least {minimum:g}"
    return f"{noun} from {minimum:g} to {maximum:g}"
