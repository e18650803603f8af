"""Catalogs of other packages: folders of TOML files that an entry point names.

A distribution whose entry point of the group `dumbbell.experiments` (`dumbbell.schemes`, `dumbbell.paths`) is a package
adds every `*.toml` of that package's folder.
"""

import sys
from pathlib import Path

from dumbbell.base.errors import UserError, one_line


def installed_folders(group: str) -> list[Path]:
    """The folders that installed packages add to a catalog, in the order of the entry points' names.

    Raises:
        UserError: an entry point that leads nowhere.
    """
    if not _is_declared(group):
        return []
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=group), key=lambda point: (point.name, point.value))
    return [folder for point in found for folder in _folders(group, point.name, point.value)]


def _is_declared(group: str) -> bool:
    """Whether any installed package has the group: `importlib.metadata` takes longer to import than this to look."""
    header = f"[{group}]"
    for place in dict.fromkeys(sys.path):
        for file in Path(place or ".").glob("*.*-info/entry_points.txt"):
            if header in file.read_text(encoding="utf-8", errors="replace"):
                return True
    return False


def _folders(group: str, name: str, package: str) -> list[Path]:
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except Exception as error:  # the package is somebody else's: it may fail in any way
        raise UserError(f"entry point `{name}` of `{group}`: package `{package}`: {one_line(error)}") from None
    if spec is None or spec.submodule_search_locations is None:
        raise UserError(f"entry point `{name}` of `{group}`: `{package}`: allowed is a package with TOML files in it")
    return [Path(place) for place in spec.submodule_search_locations]
