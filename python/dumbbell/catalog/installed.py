"""Catalogs of other packages: folders of TOML files that an entry point names.

A distribution whose entry point of the group `dumbbell.experiments` (`dumbbell.schemes`, `dumbbell.paths`) is a package
adds every `*.toml` of that package's folder.
"""

from pathlib import Path

from dumbbell.base.entry_points import entry_points


def installed_folders(group: str) -> list[Path]:
    """Return the folders that installed packages add to a catalog, sorted by the names of the entry points.

    Raises:
        UserError: If the package of an entry point is missing.
    """
    folders = []
    for point in entry_points(group):
        folder = point.folder()
        if not folder.is_dir():
            raise point.refused("allowed is a package with TOML files in it")
        folders.append(folder)
    return folders
