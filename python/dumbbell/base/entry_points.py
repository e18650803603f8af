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
    """One line of a group: a name, and the module or package that it stands for."""

    name: str
    value: str
    group: str

    def load(self) -> ModuleType:
        """Return the module, imported.

        Raises:
            UserError: the module cannot be imported.
        """
        try:
            return import_module(self.value)
        except Exception as error:  # the package is somebody else's: it may fail in any way
            raise self.refused(one_line(error)) from None

    def folder(self) -> Path:
        """Return the place of the module without its ending: nothing is executed.

        Raises:
            UserError: the package that it belongs to is not installed.
        """
        from importlib.util import find_spec

        top, *below = self.value.split(".")
        try:
            spec = find_spec(top)
        except (ImportError, ValueError) as error:
            raise self.refused(one_line(error)) from None
        if spec is None or not spec.submodule_search_locations:
            where = f"entry point `{self.name}` of `{self.group}`: package `{self.value}`"
            raise UserError(f"{where}: No module named '{top}'")
        return Path(spec.submodule_search_locations[0], *below)

    def file(self) -> Path:
        """Return the file of the module, which is not executed.

        Raises:
            UserError: there is none.
        """
        place = self.folder()
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                return file
        raise self.refused("there is no such module")

    def refused(self, why: str) -> UserError:
        """Return the error for an entry point that leads nowhere."""
        return UserError(f"entry point `{self.name}` of `{self.group}`: `{self.value}`: {why}")


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, by their names, of every package on Python's path."""
    return sorted(point for point in _all(tuple(sys.path)) if point.group == group)


def module_files(group: str, own: Mapping[str, Path]) -> dict[str, Path]:
    """Return files of modules in the order of their names: our own, and those that the entry points of a group add.

    Raises:
        UserError: an entry point leads nowhere, or has the name of a file of our own.
    """
    files = dict(own)
    for point in entry_points(group):
        if point.name in own:
            raise point.refused("the name is taken by dumbbell's own")
        files[point.name] = point.file()
    return dict(sorted(files.items()))


def load_entry_point(group: str, name: str) -> ModuleType:
    """Return the module of an entry point that is there, imported.

    Raises:
        UserError: the module cannot be imported.
    """
    return next(point for point in entry_points(group) if point.name == name).load()


@cache
def _all(places: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return every entry point whose group begins with `dumbbell.`. Of a package on two places the first one counts."""
    points: dict[str, list[EntryPoint]] = {}
    for place in dict.fromkeys(places):
        for folder in information(place):
            # every command starts with this: no `Path`, and text only of a file that names a group of ours
            try:
                with open(f"{folder}/{_FILE}", "rb") as source:  # noqa: PTH123
                    content = source.read()
            except OSError:
                continue
            distribution = folder.rpartition("/")[2].partition("-")[0]
            if _PREFIX_BYTES in content and distribution not in points:
                points[distribution] = list(_parsed(content.decode(errors="replace")))
    return tuple(point for each in points.values() for point in each)


def _parsed(text: str) -> Iterator[EntryPoint]:
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group.startswith(_PREFIX) and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip(), group)
