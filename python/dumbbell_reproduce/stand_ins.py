"""Schemes that simulate what somebody measured, by the names of the measurement."""

from collections.abc import Mapping

from dumbbell import catalog
from dumbbell.base.errors import argument
from dumbbell.catalog.outside.pantheon_names import Counterpart
from dumbbell.catalog.scheme import Scheme


def stand_in(
    name: str,
    stands_for: Mapping[str, str],
    counterparts: Mapping[str, Counterpart],
    own_schemes: Mapping[str, Scheme],
) -> tuple[Scheme | None, str]:
    """Return the scheme that simulates what was measured as `name`, or None and the reason.

    It is the one that is asked for by `stands_for`, else that of Pantheon's table, else the one of that name.
    """
    known = counterparts.get(name)
    if name in stands_for or known is None:
        return _named(own_schemes, stands_for.get(name, name))
    if known.scheme is None:
        return None, f"nothing simulates it: {known.note}"
    return catalog.schemes().find(known.scheme), ""


def _named(own_schemes: Mapping[str, Scheme], name: str) -> tuple[Scheme | None, str]:
    known = catalog.schemes()
    scheme = own_schemes.get(name)
    if scheme is None or scheme.status == "imported":
        scheme = known.find(name) if name in known.names() else None  # a file of that name may be somebody else's
    if scheme is None:
        return None, f"not one of ours: {_as()} says which is"
    if scheme.kind != "core":
        return None, f"cannot be simulated here: {_as()} says which of ours stands for it"
    return scheme, ""


def _as() -> str:
    return argument("stands_for", '{"NAME": "OURS"}', "NAME=OURS")
