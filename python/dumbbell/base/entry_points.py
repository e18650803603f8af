"""Entry points: names by which installed packages add catalogs, commands, backends and importers to dumbbell.

A distribution lists them in its `entry_points.txt`, by groups such as `dumbbell.commands`.
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dumbbell.base.distributions import information
from dumbbell.base.errors import UserError, one_line

_FILE = "entry_points.txt"
_PREFIX = "dumbbell."
_PREFIX_BYTES = f"[{_PREFIX}".encode()


class EntryPoint(NamedTuple):
    """A line of a group: a name, with the module or package that it names."""

    name: str
    value: str
    group: str

    def load(self) -> ModuleType:
        """Return the module, imported.

        Raises:
            UserError: If the module cannot be imported.
        """
        try:
            return import_module(self.value)
        except Exception as error:  # a foreign package may raise any exception
            raise self.refused(one_line(error)) from None

    def folder(self) -> Path:
        """Return the path of the module without its suffix. The module is not executed.

        Raises:
            UserError: If the package of the module is not installed.
        """
        from importlib.util import find_spec

        top, *below = self.value.split(".")
        try:
            spec = find_spec(top)
        except (ImportError, ValueError) as error:
            raise self.refused(one_line(error)) from None
        if spec is None or not spec.submodule_search_locations:
            prefix = f"entry point `{self.name}` of `{self.group}`: package `{self.value}`"
            raise UserError(f"{prefix}: No module named '{top}'")
        return Path(spec.submodule_search_locations[0], *below)

    def file(self) -> Path:
        """Return the file of the module. The module is not executed.

        Raises:
            UserError: If the module has no file.
        """
        place = self.folder()
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
        raise self.refused("there is no such module")

    def refused(self, reason: str) -> UserError:
        """Return the error for an entry point whose module is missing or fails."""
        return UserError(f"entry point `{self.name}` of `{self.group}`: `{self.value}`: {reason}")


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name, of every package on Python's path."""
    return sorted(point for point in _all(tuple(sys.path)) if point.group == group)


def module_files(group: str, builtin_files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files of modules, sorted by name: the built-in files, and the files of a group of entry points.

    Raises:
        UserError: If the module of an entry point is missing, or its name is that of a built-in file.
    """
    files = dict(builtin_files)
    for point in entry_points(group):
        if point.name in builtin_files:
            raise point.refused("the name is taken by dumbbell's own")
        files[point.name] = point.file()
    return dict(sorted(files.items()))


def load_entry_point(group: str, name: str) -> ModuleType:
    """Import and return the module of an existing entry point.

    Raises:
        UserError: If the module cannot be imported.
    """
    return next(point for point in entry_points(group) if point.name == name).load()


@cache
def _all(places: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return every entry point whose group begins with `dumbbell.`. If a package is in two places, the first counts."""
    points: dict[str, list[EntryPoint]] = {}
    for place in dict.fromkeys(places):
        for folder in information(place):
            # Every command runs this code, so it avoids `Path`, and decodes only files that contain a group of
            # dumbbell.
            try:
                with open(f"{folder}/{_FILE}", "rb") as source:  # noqa: PTH123
                    content = source.read()
            except OSError:
                continue
            distribution = folder.rpartition("/")[2].partition("-")[0]
            if _PREFIX_BYTES in content and distribution not in points:
                points[distribution] = list(_parsed(content.decode(errors="replace")))
    return tuple(point for group in points.values() for point in group)


def _parsed(text: str) -> Iterator[EntryPoint]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group.startswith(_PREFIX) and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), group)
