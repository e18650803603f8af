"""ccperf's traffic models (ccperf.net/traffic) as applications."""

import re

from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.open_tables import Application
from dumbbell.catalog.quantities import rate_mbps
from dumbbell_ccperf.values import counterpart, items, whole_number

OPTION = "--traffic-models"
_ARGUMENTS = {"Greedy": ("bytes",), "CBR": ("bytes", "rate"), "Poisson": ("bytes", "rate")}
_KINDS = {"CBR": "constant", "Poisson": "poisson"}


def application(text: str) -> Application:
    """Return the application for `Greedy(bytes=0)`, `CBR(bytes=0,rate=1Mbps)` or `Poisson(...)`.

    Raises:
        UserError: another model, or other arguments.
    """
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?", text)
    if match is None:
        raise UserError(f"{OPTION} `{text}`: allowed is MODEL(NAME=VALUE,...), like Greedy(bytes=0)")
    model = counterpart(OPTION, match[1], dict(_ARGUMENTS))
    values = _by_name(text, _ARGUMENTS[model], match[2] or "")
    size = whole_number(f"{OPTION} `{text}`: bytes", values.get("bytes", "0"))
    if model == "Greedy":
        return {"kind": "fixed", "bytes": size} if size else {"kind": "greedy"}
    if "rate" not in values:
        raise UserError(f"{OPTION} `{text}`: `rate` is missing: allowed is {model}(bytes=0,rate=1Mbps)")
    rate = float(rate_mbps(values["rate"], f"{OPTION} `{text}`: rate"))
    return {"kind": _KINDS[model], "rate_mbps": rate} | ({"bytes": size} if size else {})


def _by_name(text: str, names: tuple[str, ...], arguments: str) -> dict[str, str]:
    """Return the arguments by name. Arguments without a name take the names in order."""
    values: dict[str, str] = {}
    for place, item in enumerate(items(arguments) if arguments else []):
        name, equals, value = item.partition("=")
        if not equals:
            name, value = names[place] if place < len(names) else "", item
        if name not in names or name in values:
            raise UserError(f"{OPTION} `{text}`: argument `{item}`: allowed are {listed(names)}")
        values[name] = value
    return values
