"""What can be named: schemes, paths, experiments, metrics and parameters."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from dumbbell import _core, catalog
from dumbbell.catalog.settings import READERS

if TYPE_CHECKING:
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.path import PathModel
    from dumbbell.catalog.plan import Plan
    from dumbbell.catalog.scheme import Scheme


def schemes() -> "Index[Scheme]":
    """Every listed scheme, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.schemes()


def paths() -> "Index[PathModel]":
    """Every listed path, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.paths()


def experiments() -> "Index[Plan]":
    """Every listed experiment, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.experiments()


def metrics() -> list[dict[str, Any]]:
    """The definition of every metric: `name`, `unit`, `convention`, `level`, `formula`, `source`, `sampled`."""
    found: list[dict[str, Any]] = json.loads(_core.metrics())
    return found


def settings() -> list[str]:
    """The names of an experiment's settings: what `settings` of `dumbbell.run` takes beside SCHEME.KEY."""
    return list(READERS)


def plugin_schemes(files: Iterable[str]) -> "list[Scheme]":
    """The schemes of plug-ins: `./libmine.so`, `mine.py`, or `FILE:NAME` for one controller of several.

    Raises:
        dumbbell.Error: one is no plug-in, cannot be loaded, or has no such controller.
    """
    from dumbbell.plugins.schemes import given_schemes

    return [scheme for file in files for scheme in given_schemes(file)]


def parameters(plugins: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Every parameter of every controller, with `controller`, `name`, `unit`, `kind`, limits, `default`, `help`.

    Those of plug-ins, given as to `plugin_schemes`, too.
    """
    rows = []
    for controller in (*json.loads(_core.controllers()), *_described(plugins)):
        rows += [{"controller": controller["name"]} | parameter for parameter in controller["parameters"]]
    return rows


def _described(plugins: Iterable[str]) -> Iterator[dict[str, Any]]:
    for scheme in plugin_schemes(plugins):
        from dumbbell.plugins.isolated import describe  # what it needs is slow to import

        yield from (item for item in describe(scheme.code) if item["name"] == scheme.controller)
