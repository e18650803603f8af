"""What can be named: schemes, paths, experiments, metrics and parameters."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from dumbbell import catalog
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.experiment_settings import READERS
from dumbbell.catalog.outside.availability import missing

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_file import ExperimentFile
    from dumbbell.catalog.index import Index
    from dumbbell.catalog.path import PathModel
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.contract.controllers import Controller
    from dumbbell.contract.statistics import Definition

Listed: TypeAlias = dict[str, Any]
"""One entry of a list, for example of all paths. Its keys are those that `dumbbell list paths --json` prints."""

LISTED = ("schemes", "paths", "experiments", "metrics", "parameters", "suites")
"""What `listing` lists."""

_OF_PLUGINS = ("schemes", "parameters")
"""Sorts of which a plug-in has some of its own."""


def schemes() -> "Index[Scheme]":
    """Every listed scheme, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.schemes()


def paths() -> "Index[PathModel]":
    """Every listed path, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.paths()


def experiments() -> "Index[ExperimentFile]":
    """Every listed experiment, to go through; `find` gives one by its name, its alias or its TOML file."""
    return catalog.experiments()


def metrics() -> "list[Definition]":
    """The definition of every metric: `name`, `unit`, `convention`, `level`, `formula`, `source`, `sampled`."""
    from dumbbell.core.metrics import metric_definitions

    return [each.copy() for each in metric_definitions()]


def settings() -> list[str]:
    """The names of an experiment's settings: what `settings` of `dumbbell.run` takes beside SCHEME.KEY."""
    return list(READERS)


def plugin_schemes(files: Iterable[str]) -> "list[Scheme]":
    """The schemes of plug-ins: `./libmine.so`, `mine.py`, `FILE:NAME` for one controller of several, or `mine.toml`.

    Raises:
        dumbbell.Error: one is no plug-in and no scheme's file, cannot be loaded, or has no such controller.
    """
    from dumbbell.catalog.outside.plugin_schemes import given_schemes

    found = []
    for file in files:
        found += [schemes().find(file)] if file.endswith(".toml") else given_schemes(file)
    return found


def parameters(plugins: Iterable[str] = ()) -> list[Listed]:
    """Every parameter of every controller, with `controller`, `name`, `unit`, `kind`, limits, `default`, `help`.

    With plug-ins, given as to `plugin_schemes`, those of their controllers alone.
    """
    from dumbbell.core.controllers import builtin_controllers  # schemes are listed without

    rows: list[Listed] = []
    files = list(plugins)
    for controller in _described(files) if files else builtin_controllers():
        rows += [{"controller": controller["name"]} | parameter for parameter in controller["parameters"]]
    return rows


def listing(what: str, text: str = "", *, kind: str | None = None, plugins: Iterable[str] = ()) -> list[Listed]:
    """Everything of one sort (`schemes`, `paths`, `experiments`, `metrics`, ...), as `dumbbell list --json`.

    `text` chooses: every word of it occurs somewhere in what is listed (capitals make no difference). `kind` is one of
    schemes. With plug-ins, given as to `plugin_schemes` or among the words, their schemes or parameters alone are
    listed.

    Raises:
        dumbbell.Error: there is no such sort or kind.
    """
    from dumbbell.catalog.outside.plugin_schemes import plugin_kind

    words = text.split()
    files = [word for word in words if what in _OF_PLUGINS and (plugin_kind(word) or word.endswith(".toml"))]
    plugins = [*plugins, *files]
    made: dict[str, Callable[[], list[Listed]]] = {
        "schemes": lambda: _scheme_rows(plugins),
        "paths": lambda: [{"name": item.name, "aliases": list(item.aliases)} | item.table() for item in paths()],
        "experiments": _experiment_rows,
        "metrics": lambda: [dict(each) for each in metrics()],
        "parameters": lambda: parameters(plugins),
        "suites": _suite_rows,
    }
    if what not in made:
        raise UserError(f"unknown `{what}`{nearest(what, made)}: allowed are {listed(made)}")
    rows = made[what]()
    if kind is not None:
        if what != "schemes":
            raise UserError(f"allowed of schemes only, not of {what}", argument="kind")
        kinds = sorted({row["kind"] for row in rows})
        if kind not in kinds:
            raise UserError(argument="kind", value=kind, allowed=kinds)
        rows = [row for row in rows if row["kind"] == kind]
    wanted = [word.casefold() for word in words if word not in files]
    return [row for row in rows if all(word in _told(row) for word in wanted)]


def _told(row: Listed) -> str:
    """All texts of a row, to look for words in."""
    values = [value if isinstance(value, list) else [value] for value in row.values()]
    return "\n".join(item for value in values for item in value if isinstance(item, str)).casefold()


def _scheme_rows(plugins: Iterable[str]) -> list[Listed]:
    rows = []
    files = list(plugins)
    for item in plugin_schemes(files) if files else schemes():
        reason = missing(item)
        here = {"here": "no" if reason else "yes", "missing": reason}
        rows.append({"name": item.name, "aliases": list(item.aliases)} | item.table() | here)
    return rows


def _experiment_rows() -> list[Listed]:
    keys = ("name", "title", "schemes", "mixes", "paths", "runs", "duration_s", "flows", "interval_s")
    return [{"aliases": list(item.aliases)} | {key: getattr(item, key) for key in keys} for item in experiments()]


def _suite_rows() -> list[Listed]:
    """Return the suites of `dumbbell check`, each with the names of its own cells."""
    return [
        {
            "name": item.name,
            "aliases": list(item.aliases),
            "title": item.title,
            "includes": list(item.includes),
            "cells": [cell.name for cell in item.cells],
        }
        for item in catalog.check_suites()
    ]


def _described(plugins: Iterable[str]) -> "Iterator[Controller]":
    for scheme in plugin_schemes(plugins):
        from dumbbell.catalog.outside.plugin_schemes import plugin_sha256
        from dumbbell.core.controllers import builtin_controllers
        from dumbbell.plugins.isolated import describe  # what it needs is slow to import

        listed: Iterable[Controller] = (
            describe(scheme.code, plugin_sha256(scheme.code)) if scheme.is_outside else builtin_controllers()
        )
        yield from (item for item in listed if item["name"] == scheme.controller)
