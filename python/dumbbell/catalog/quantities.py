"""Rates, times, shares and queue lengths as people type them, exact, with the units of tc, iperf3 and ns-3."""

import re
from decimal import Decimal

from dumbbell.base.errors import UserError, nearest

_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})\s*([A-Za-z%/]*)", re.ASCII)

_PREFIXES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

RATES = tuple(f"{prefix}bit" for prefix in ("k", "m", "g"))
"""Units of rates for suggestions."""

_RATE = re.compile(r"((?i:[kmgt]i?)?)(?:(?i:bit(?:/s|ps)?)|b(?:ps|/s)|(B(?:ps|/s)))", re.ASCII)
"""Unit of a rate: a prefix, and bits per second or bytes per second."""

TIMES = {unit: Decimal(ms) for unit, ms in (("", "1"), ("us", "0.001"), ("ms", "1"), ("s", "1000"), ("sec", "1000"))}
"""Milliseconds in each unit of a delay. A bare number is in ms, as for mahimahi's mm-delay."""

BYTES = {"b": 1} | {f"{prefix}b": factor for prefix, factor in (_PREFIXES | _BINARY).items() if prefix}
"""Bytes in each unit of a size."""

MOST_RATE = Decimal(10**12)
MOST_MS = Decimal(10**6)
MOST_BDP = Decimal(1000)
MOST_LIMIT = Decimal(10**9)
MOST_BYTES = 10**15


def _split(text: str, option: str, form: str) -> tuple[Decimal, str]:
    """Return the number, and the unit as written."""
    match = _NUMBER.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise UserError(f"{option} `{str(text)[:40]}`: allowed is {form}")
    return Decimal(match[1]), match[2]


def _parts(text: str, option: str, form: str) -> tuple[Decimal, str]:
    """Return the number, and the unit in lower case."""
    number, unit = _split(text, option, form)
    return number, unit.lower()


def rate_mbps(text: str, option: str) -> Decimal:
    """Return a rate, Mbit/s: `20mbit`, `20Mbps`, `20Mb/s`, `500kbit`, `1gbit`, or in bytes per second `2.5MB/s`.

    In tc(8) `mbps` means bytes per second; in iperf3, ns-3, common use and dumbbell it means bits per second.

    Raises:
        UserError: If the text is no rate, or out of bounds.
    """
    form = "a rate with its unit, like 20mbit, 500kbit, 1gbit or 20Mbps (bits per second; bytes: 2.5MB/s)"
    number, unit = _split(text, option, form)
    match = _RATE.fullmatch(unit)
    if match is None:
        raise UserError(f"{option} `{text}`{nearest(unit.lower(), RATES) if unit else ''}: allowed is {form}")
    factor = (_PREFIXES | _BINARY)[match[1].lower()] * (8 if match[2] else 1)
    if not 1 <= number * factor <= MOST_RATE:
        raise UserError(f"{option} `{text}`: allowed is 1bit to 1tbit")
    return number * factor / 10**6


def delay_ms(text: str, option: str) -> Decimal:
    """Return a time, ms: `40ms`, `500us`, `0.3s`; a bare number is in ms.

    Raises:
        UserError: If the text is no time, or out of bounds.
    """
    number, unit = _parts(text, option, "a time like 40ms, 500us or 0.3s")
    if unit not in TIMES:
        raise UserError(f"{option} `{text}`: unknown unit `{unit}`: allowed are us, ms, s")
    value = number * TIMES[unit]
    if value > MOST_MS:
        raise UserError(f"{option} `{text}`: allowed is a number of ms from 0 to {MOST_MS}")
    return value


def percentage(text: str, option: str) -> Decimal:
    """Return a share, %: `0.1%`. The sign is required, since a bare 1 means 1 % for tc and 100 % for mahimahi.

    Raises:
        UserError: If the text is no percentage.
    """
    number, unit = _parts(text, option, "a percentage like 0.1%")
    if unit != "%" or number > 100:
        raise UserError(f"{option} `{text}`: allowed is a percentage from 0% to 100%, with its sign, like 0.1%")
    return number


def queue_length(text: str, option: str) -> tuple[Decimal, str]:
    """Return the length of a queue and its unit: `packets`, `bytes`, `ms` at the rate, or `bdp`.

    Raises:
        UserError: If the text is no length, or out of bounds.
    """
    form = "a length like 100p (packets), 150kB (bytes), 200ms (at the rate) or 1bdp (bandwidth-delay products)"
    number, unit = _parts(text, option, form)
    counts = {"p": "packets", "packets": "packets", "bdp": "bdp"}.get(unit, "ms" if unit and unit in TIMES else "bytes")
    if counts == "bytes":
        if unit not in BYTES:
            raise UserError(f"{option} `{text}`: allowed is {form}")
        number *= BYTES[unit]
    elif counts == "ms":
        number *= TIMES[unit]
    if not 0 < number <= {"bdp": MOST_BDP, "ms": MOST_MS}.get(counts, MOST_LIMIT):
        maximum = f"{MOST_BDP}bdp, {short(MOST_MS / 1000)}s or 1e9 packets or bytes"
        raise UserError(f"{option} `{text}`: allowed is a length above 0, at most {maximum}")
    if counts in {"packets", "bytes"} and number != int(number):
        raise UserError(f"{option} `{text}`: allowed is a whole number of {counts}")
    return number, counts


def size_bytes(text: str, option: str) -> int:
    """Return a size, bytes: `10GB`, `500MB`, `2GiB`.

    Raises:
        UserError: If the text is no size, or out of bounds.
    """
    form = "a size with its unit, like 500MB, 10GB or 2GiB"
    number, unit = _parts(text, option, form)
    if unit not in BYTES:
        raise UserError(f"{option} `{text}`{nearest(unit, BYTES) if unit else ''}: allowed is {form}")
    size = int(number * BYTES[unit])
    if not 1 <= size <= MOST_BYTES:
        raise UserError(f"{option} `{text}`: allowed is 1B to 1000TB")
    return size


def short(number: Decimal) -> str:
    """Return the number exactly, with as few digits as possible: `20`, `0.1`."""
    return format(number.normalize(), "f")
