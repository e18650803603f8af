"""Distributions on Python's path: the folders of information that installers write beside packages.

The standard library's `importlib.metadata` reads the same. To import it takes longer than this takes to look.
"""

import os
import re
import sys
from collections.abc import Iterator
from functools import cache

_INFORMATION = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist|egg)-info")
"""Name of a folder of information (or of the single file that Debian has), with its name's `-` as `_`."""


@cache
def information(place: str) -> tuple[str, ...]:
    """Return the paths of the folders of information in a place on Python's path; of a place that is none, nothing."""
    try:
        with os.scandir(place or ".") as entries:
            return tuple(entry.path for entry in entries if entry.name.endswith("-info"))
    except OSError:
        return ()


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, as its folder is called; None if it is not installed."""
    wanted = _normalized(name)
    return next((version for found, version in _all() if found == wanted), None)


def _all() -> Iterator[tuple[str, str]]:
    """Yield name and version of each distribution. Of one in two places the first counts, as for Python's imports."""
    for place in dict.fromkeys(sys.path):
        for path in information(place):
            if match := _INFORMATION.fullmatch(path.rpartition("/")[2]):
                yield _normalized(match["name"]), match["version"]


def _normalized(name: str) -> str:
    return re.sub("[-_.]+", "_", name).lower()
