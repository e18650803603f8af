"""Values as ns-3 writes them: with units, in lists, with arguments."""

import re

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.quantities import MOST_LIMIT

_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "Ki": 2.0**10, "ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}


def seconds(option: str, text: str) -> float:
    """`15s` or `54ms` in seconds, not negative."""
    match = re.fullmatch(_NUMBER + r"([a-z]+)", text.strip())
    value = float(match[1]) * _TIMES[match[2]] if match and match[2] in _TIMES else -1.0
    if not 0.0 <= value < 1e6:
        raise UserError(f"{option} `{text}`: allowed is a time with its unit, like 15s or 54ms: {listed(_TIMES)}")
    return value


def queue_limit(option: str, text: str) -> dict[str, int]:
    """`173p` as `packets`, `100kB` as `bytes`."""
    match = re.fullmatch(_NUMBER + r"(?:(p)|([kKM]i?)?B)", text.strip())
    size = float(match[1]) * _SCALES[match[3] or ""] if match else 0.0
    if match is None or not 0.5 < size <= MOST_LIMIT or (match[2] and not match[1].isdecimal()):
        raise UserError(
            f"{option} `{text}`: allowed is a length in packets or bytes, from 1 to {MOST_LIMIT}, like 173p or 100kB"
        )
    return {"packets" if match[2] else "bytes": round(size)}


def probability(option: str, text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise UserError(f"{option} `{text}`: allowed is a probability from 0 to 1")
    return value


def whole(option: str, text: str) -> int:
    """A whole number, not negative."""
    if not re.fullmatch(r"\d{1,16}", text) or int(text) > 2**53:
        raise UserError(f"{option} `{text}`: allowed is a whole number from 0 to {2**53}")
    return int(text)


def items(text: str) -> list[str]:
    """A list: split at the commas that stand in no bracket."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [item.strip() for item in found]


def known(option: str, text: str, names: dict[str, object]) -> str:
    """One of ns-3's names that has a counterpart, with or without `ns3::`."""
    name = text.removeprefix("ns3::")
    if name not in names:
        raise UserError(
            f"{option} `{text}`: has no counterpart here{nearest(name, names)}: allowed are {listed(names)}"
        )
    return name


LEFT_OUT = "..."
"""What documents write for a value that they do not repeat."""


def parameters(given: list[str] | None) -> dict[str, str]:
    """`{aut:TcpNewReno,rtts:[97ms,76ms],k:2}` as texts by name. A shell that expands the braces gives several words."""
    text = ",".join(part.strip().removeprefix("{").removesuffix("}") for part in given or [])
    found = {}
    for item in items(text) if text else []:
        name, colon, value = item.partition(":")
        if not colon or not name.strip():
            raise UserError(f"--parameters `{item}`: allowed is {{NAME:VALUE,...}}, like {{aut:TcpNewReno,k:2}}")
        if value.strip() != LEFT_OUT:
            found[name.strip()] = value.strip()
    return found
