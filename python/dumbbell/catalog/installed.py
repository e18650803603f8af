"""Catalogs of other packages: folders of TOML files that an entry point names.

A distribution whose entry point of the group `dumbbell.experiments` (`dumbbell.schemes`, `dumbbell.paths`) is a package
adds every `*.toml` of that package's folder.
"""

from pathlib import Path

from dumbbell.base.entry_points import entry_points
from dumbbell.base.errors import UserError, one_line


def installed_folders(group: str) -> list[Path]:
    """The folders that installed packages add to a catalog, in the order of the entry points' names.

    Raises:
        UserError: an entry point that leads nowhere.
    """
    return [folder for point in entry_points(group) for folder in _folders(group, point.name, point.value)]


def _folders(group: str, name: str, package: str) -> list[Path]:
    from importlib.util import find_spec

    try:
        spec = find_spec(package)
    except Exception as error:  # the package is somebody else's: it may fail in any way
        raise UserError(f"entry point `{name}` of `{group}`: package `{package}`: {one_line(error)}") from None
    if spec is None or spec.submodule_search_locations is None:
        raise UserError(f"entry point `{name}` of `{group}`: `{package}`: allowed is a package with TOML files in it")
    return [Path(place) for place in spec.submodule_search_locations]
