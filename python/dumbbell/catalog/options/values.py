"""Parsers of option values. Each takes a text; its error is one line with the allowed values."""

import argparse
import math
import re
import shlex
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from dumbbell.base.errors import UserError, nearest

Number = TypeVar("Number", int, Decimal)

MOST_SEED = 2**53
LEAVE_ONE_OUT = "leave-one-out"
"""As many folds as schemes."""
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0, "d": 86400.0}


class Choice:
    """A word out of a list. An error suggests the closest word."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, text: str) -> str:
        """Return the word."""
        if text not in self.names:
            raise argparse.ArgumentTypeError(
                f"unknown `{text}`{nearest(text, self.names)}: allowed are {', '.join(self.names)}"
            )
        return text


class Suggestion(Choice):
    """A word that is probably from a list. The final check happens later."""

    def __call__(self, text: str) -> str:
        """Return the word unchanged."""
        return text


def seconds(text: str) -> float:
    """Return a non-negative time, s: `30`, `500ms`, `2min`."""
    match = re.fullmatch(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([A-Za-z]*)", text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is a time like 30, 30s, 500ms or 2min")
    number, unit = float(match[1]), match[2]
    if unit not in _SECONDS:
        units = [name for name in _SECONDS if name]
        hint = nearest(unit, units)
        raise argparse.ArgumentTypeError(f"`{text}`: unknown unit `{unit}`{hint}: allowed are {', '.join(units)}")
    value = number * _SECONDS[unit]
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"`{text}`: must not be negative")
    return value


def duration(text: str) -> float:
    """Return the length of a run, s."""
    value = seconds(text)
    if not 1e-3 <= value <= 1e6:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is 1 ms to 1000000 s")
    return value


def campaign_time(text: str) -> float:
    """Return the interval of a campaign's rounds or the duration of a campaign, s: `1h`, `7d`."""
    value = seconds(text)
    if not 1.0 <= value <= 366 * 86400.0:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is 1 s to 366 d")
    return value


def size(text: str) -> int:
    """Return a size, bytes."""
    from dumbbell.catalog.quantities import size_bytes

    return _quantity(size_bytes, text)


def bandwidth(text: str) -> float:
    """Return a rate with its unit, Mbit/s."""
    from dumbbell.catalog.quantities import rate_mbps

    return float(_quantity(rate_mbps, text))


def _quantity(read: Callable[[str, str], Number], text: str) -> Number:
    """Return the result of `read` for the text. Its error is shown after the option's name."""
    try:
        return read(text, "")
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error).strip()) from None


def minutes(text: str) -> float:
    """Return a time limit, minutes, from a number of minutes or a time with another unit."""
    value = float(text) if re.fullmatch(r"\d+(\.\d*)?", text) else seconds(text) / 60.0
    if not 0.01 <= value <= 1e5:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is 0.01 to 100000 minutes, or a time like 90s or 2h")
    return value


def count(text: str) -> int:
    """Return an integer from 1 to 1000000."""
    if not re.fullmatch(r"\d{1,7}", text) or not 1 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is a whole number, at least 1 and at most 1000000")
    return int(text)


def fold_count(text: str) -> int | str:
    """Return 0, an integer from 2, or `leave-one-out`. The number of schemes is not known yet."""
    if text == LEAVE_ONE_OUT:
        return text
    if not re.fullmatch(r"\d{1,3}", text) or int(text) == 1:
        problem = f"allowed is {LEAVE_ONE_OUT}, 0, or a whole number from 2 to 999"
        raise argparse.ArgumentTypeError(f"`{text}`: {problem}")
    return int(text)


def packet_bytes(text: str) -> int:
    """Return the bytes that are added to a packet."""
    if not re.fullmatch(r"\d{1,4}", text) or int(text) > 1500:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is a whole number from 0 to 1500")
    return int(text)


def pair(text: str) -> tuple[str, str]:
    """Return the two names of `NAME=OURS`."""
    first, equals, second = text.partition("=")
    if not equals or not first.strip() or not second.strip():
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is NAME=OURS")
    return first.strip(), second.strip()


def seed(text: str) -> int:
    """Return an integer that every JSON reader keeps exact."""
    if not re.fullmatch(r"\d{1,16}", text) or int(text) > MOST_SEED:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is a whole number from 0 to {MOST_SEED}")
    return int(text)


def ports(text: str) -> tuple[int, int]:
    """Return the first and the last port of a range: `40000-40009`."""
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text, re.ASCII)
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 65535:
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is FROM-TO, two ports of 1 to 65535")
    return int(match[1]), int(match[2])


def value_range(text: str) -> tuple[float, float]:
    """Return the low and the high end of a range of values: `0,100`."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise argparse.ArgumentTypeError(f"`{text}`: allowed is LOW,HIGH, two numbers like 0,100, the lower one first")
    return low, high


def names(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated list, at least one."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("needs at least one name")
    return names


def shell_words(text: str, name: str) -> list[str]:
    """Return the words of a command line, split as by a shell; messages call the line `name`.

    Raises:
        UserError: If a quotation mark is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UserError(f"{name} `{text}`: {str(error).lower()}") from None
