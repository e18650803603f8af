"""Installed distributions on Python's path: the `.dist-info` and `.egg-info` folders that installers write.

`importlib.metadata` of the standard library does the same, but its import takes longer than this whole search.
"""

import os
import re
import sys
from collections.abc import Iterator
from functools import cache

_INFORMATION = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist|egg)-info")
"""Name of an information folder, or of the single file on Debian. In the distribution's name `-` is `_`."""


@cache
def information(place: str) -> tuple[str, ...]:
    """Return the paths of the information folders in a place on Python's path; empty if the place is no folder."""
    try:
        with os.scandir(place or ".") as entries:
            return tuple(entry.path for entry in entries if entry.name.endswith("-info"))
    except OSError:
        return ()


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, from the name of its folder; None if it is not installed."""
    normalized_name = _normalized(name)
    return next((version for other_name, version in _all() if other_name == normalized_name), None)


def _all() -> Iterator[tuple[str, str]]:
    """Yield name and version of each distribution. If one is in two places, the first counts, as for imports."""
    for place in dict.fromkeys(sys.path):
        for path in information(place):
            if match := _INFORMATION.fullmatch(path.rpartition("/")[2]):
                yield _normalized(match["name"]), match["version"]


def _normalized(name: str) -> str:
    return re.sub("[-_.]+", "_", name).lower()
