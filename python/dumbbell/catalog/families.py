"""Families of schemes, whose controllers use one signal or come from one design."""

from functools import cache

from dumbbell import catalog
from dumbbell.catalog.scheme import FAMILIES, Scheme


def family(name: str) -> str | None:
    """Return the key in `FAMILIES` of the scheme's family; None for a mix, or if no family is known."""
    scheme = _listed(name)
    return scheme.family or None if scheme else None


def family_name(name: str) -> str:
    """Return the name of a scheme's family for people; `others` for a mix, or if no family is known."""
    return FAMILIES[family(name) or "other"]


def yields(name: str) -> bool:
    """Return True for a scheme whose design yields the path to others."""
    scheme = _listed(name)
    return scheme is not None and scheme.yields


@cache
def _listed(name: str) -> Scheme | None:
    """Return the listed scheme of this name, else the one whose name is the longest sequence of words in this name.

    `kernel-cubic` and `cubic-of-mine` give CUBIC. A mix gives None.
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
