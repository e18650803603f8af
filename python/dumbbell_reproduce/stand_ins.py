"""The built-in schemes that simulate measured ones, by the names of the measurement."""

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
    """Return the scheme that simulates the measured `name`, or None and the reason.

    The scheme comes from `stands_for`, else from Pantheon's table, else it is the scheme with that name.
    """
    counterpart = counterparts.get(name)
    if name in stands_for or counterpart is None:
        return _scheme_named(own_schemes, stands_for.get(name, name))
    if counterpart.scheme is None:
        return None, f"nothing simulates it: {counterpart.note}"
    return catalog.schemes().find(counterpart.scheme), ""


def _scheme_named(own_schemes: Mapping[str, Scheme], name: str) -> tuple[Scheme | None, str]:
    schemes = catalog.schemes()
    scheme = own_schemes.get(name)
    if scheme is None or scheme.status == "imported":
        scheme = (
            schemes.find(name) if name in schemes.names() else None
        )  # an imported scheme of that name may be another algorithm
    if scheme is None:
        return None, f"not one of ours: {_as()} says which is"
    if scheme.kind != "core":
        return None, f"cannot be simulated here: {_as()} says which of ours stands for it"
    return scheme, ""


def _as() -> str:
    return argument("stands_for", '{"NAME": "OURS"}', "NAME=OURS")
