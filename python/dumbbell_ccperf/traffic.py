"""ccperf's traffic models (ccperf.net/traffic) as applications."""

import re

from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.open_tables import Application
from dumbbell.catalog.quantities import rate_mbps
from dumbbell_ccperf.values import items, known, whole

OPTION = "--traffic-models"
_ARGUMENTS = {"Greedy": ("bytes",), "CBR": ("bytes", "rate"), "Poisson": ("bytes", "rate")}
_KINDS = {"CBR": "constant", "Poisson": "poisson"}


def application(text: str) -> Application:
    """The application that `Greedy(bytes=0)`, `CBR(bytes=0,rate=1Mbps)` or `Poisson(...)` stands for.

    Raises:
        UserError: another model, or other arguments.
    """
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?", text)
    if match is None:
        raise UserError(f"{OPTION} `{text}`: allowed is MODEL(NAME=VALUE,...), like Greedy(bytes=0)")
    model = known(OPTION, match[1], dict(_ARGUMENTS))
    given = _given(text, _ARGUMENTS[model], match[2] or "")
    size = whole(f"{OPTION} `{text}`: bytes", given.get("bytes", "0"))
    if model == "Greedy":
        return {"kind": "fixed", "bytes": size} if size else {"kind": "greedy"}
    if "rate" not in given:
        raise UserError(f"{OPTION} `{text}`: `rate` is missing: allowed is {model}(bytes=0,rate=1Mbps)")
    rate = float(rate_mbps(given["rate"], f"{OPTION} `{text}`: rate"))
    return {"kind": _KINDS[model], "rate_mbps": rate} | ({"bytes": size} if size else {})


def _given(text: str, names: tuple[str, ...], arguments: str) -> dict[str, str]:
    """Arguments by name; those without are taken in order."""
    given: dict[str, str] = {}
    for place, item in enumerate(items(arguments) if arguments else []):
        name, equals, value = item.partition("=")
        if not equals:
            name, value = names[place] if place < len(names) else "", item
        if name not in names or name in given:
            raise UserError(f"{OPTION} `{text}`: argument `{item}`: allowed are {listed(names)}")
        given[name] = value
    return given
