"""Values in ns-3's notation: numbers with units, lists, arguments."""

import re

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.quantities import MOST_LIMIT

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def seconds(option: str, text: str) -> float:
    """Return a time such as `15s` or `54ms` in seconds, at least 0."""
    match = re.fullmatch(_NUMBER + r"([a-z]+)", text.strip())
    value = float(match[1]) * _TIMES[match[2]] if match and match[2] in _TIMES else -1.0
    if not 0.0 <= value < 1e6:
        raise UserError(f"{option} `{text}`: allowed is a time with its unit, like 15s or 54ms: {listed(_TIMES)}")
    return value


def queue_limit(option: str, text: str) -> dict[str, int]:
    """Return a queue limit: `173p` as `packets`, `100kB` as `bytes`."""
    match = re.fullmatch(_NUMBER + r"(?:(p)|([kKM]i?)?B)", text.strip())
    size = float(match[1]) * _SCALES[match[3] or ""] if match else 0.0
    if match is None or not 0.5 < size <= MOST_LIMIT or (match[2] and not match[1].isdecimal()):
        raise UserError(
            f"{option} `{text}`: allowed is a length in packets or bytes, from 1 to {MOST_LIMIT}, like 173p or 100kB"
        )
    return {"packets" if match[2] else "bytes": round(size)}


def probability(option: str, text: str) -> float:
    """Return a number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UserError(f"{option} `{text}`: allowed is a probability from 0 to 1")
    return value


def whole_number(option: str, text: str) -> int:
    """Return a whole number of at least 0."""
    if not re.fullmatch(r"\d{1,16}", text) or int(text) > 2**53:
        raise UserError(f"{option} `{text}`: allowed is a whole number from 0 to {2**53}")
    return int(text)


def items(text: str) -> list[str]:
    """Return the items of a list, split at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [item.strip() for item in parts]


def counterpart(option: str, text: str, names: dict[str, object]) -> str:
    """Return a name of ns-3, without `ns3::`, if `names` contains it."""
    name = text.removeprefix("ns3::")
    if name not in names:
        raise UserError(
            f"{option} `{text}`: has no counterpart here{nearest(name, names)}: allowed are {listed(names)}"
        )
    return name


LEFT_OUT = "..."
"""Placeholder in documents for a value that they do not repeat."""


def parameters(words: list[str] | None) -> dict[str, str]:
    """Return `{aut:TcpNewReno,rtts:[97ms,76ms],k:2}` as strings by name. A shell that expands braces passes several."""
    text = ",".join(part.strip().removeprefix("{").removesuffix("}") for part in words or [])
    values = {}
    for item in items(text) if text else []:
        name, colon, value = item.partition(":")
        if not colon or not name.strip():
            raise UserError(f"--parameters `{item}`: allowed is {{NAME:VALUE,...}}, like {{aut:TcpNewReno,k:2}}")
        if value.strip() != LEFT_OUT:
            values[name.strip()] = value.strip()
    return values
