"""Families of schemes: those whose controllers go by the same signal or come from one design."""

from functools import cache

from dumbbell import catalog
from dumbbell.catalog.scheme import FAMILIES, Scheme


def family(name: str) -> str | None:
    """Return the family of the scheme of this name, a key of `FAMILIES`; None of a mix, and where none is known."""
    scheme = _listed(name)
    return scheme.family or None if scheme else None


def family_name(name: str) -> str:
    """Return the name of a scheme's family, for people; of a mix, and where none is known, `others`."""
    return FAMILIES[family(name) or "other"]


def yields(name: str) -> bool:
    """Return True for a scheme whose design yields the path to others."""
    scheme = _listed(name)
    return scheme is not None and scheme.yields


@cache
def _listed(name: str) -> Scheme | None:
    """Return the listed scheme of this name, else the one whose name has most of the words of this one, in a row.

    `kernel-cubic` is CUBIC, and so is `cubic-of-mine`. A mix is none.
    """
    index = catalog.schemes()
    if "+" in name and not index.knows(name):
        return None
    words = name.split("-")
    for count in range(len(words), 0, -1):
        for start in range(len(words) - count + 1):
            part = "-".join(words[start : start + count])
            if index.knows(part):
                return index.find(part)
    return None
