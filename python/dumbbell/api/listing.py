"""Lists of everything with a name: schemes, paths, experiments, metrics and parameters."""

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
"""An entry of a list, for example of all paths. Its keys are those that `dumbbell list paths --json` prints."""

LISTED = ("schemes", "paths", "experiments", "metrics", "parameters", "suites")
"""Sorts of entries that `listing` takes."""

_OF_PLUGINS = ("schemes", "parameters")
"""Sorts of entries that a plug-in can add."""


def schemes() -> "Index[Scheme]":
    """Return all listed schemes as an iterable; `find` returns one by its name, its alias or its TOML file."""
    return catalog.schemes()


def paths() -> "Index[PathModel]":
    """Return all listed paths as an iterable; `find` returns one by its name, its alias or its TOML file."""
    return catalog.paths()


def experiments() -> "Index[ExperimentFile]":
    """Return all listed experiments as an iterable; `find` returns one by its name, its alias or its TOML file."""
    return catalog.experiments()


def metrics() -> "list[Definition]":
    """Return the definition of every metric: `name`, `unit`, `convention`, `level`, `formula`, `source`, `sampled`."""
    from dumbbell.core.metrics import metric_definitions

    return [definition.copy() for definition in metric_definitions()]


def settings() -> list[str]:
    """Return the names of an experiment's settings: the keys of `settings` of `dumbbell.run`, besides SCHEME.KEY."""
    return list(READERS)


def plugin_schemes(files: Iterable[str]) -> "list[Scheme]":
    """Return the schemes of plug-ins: `./libmine.so`, `mine.py`, `FILE:NAME` for one controller, or `mine.toml`.

    Raises:
        dumbbell.Error: If a file is no plug-in or scheme file, cannot be loaded, or has no such controller.
    """
    from dumbbell.catalog.outside.plugin_schemes import given_schemes

    all_schemes = []
    for file in files:
        all_schemes += [schemes().find(file)] if file.endswith(".toml") else given_schemes(file)
    return all_schemes


def parameters(plugins: Iterable[str] = ()) -> list[Listed]:
    """Return all parameters of all controllers: `controller`, `name`, `unit`, `kind`, limits, `default`, `help`.

    With plug-ins, given as for `plugin_schemes`, return only the parameters of their controllers.
    """
    from dumbbell.core.controllers import builtin_controllers  # schemes are listed without

    rows: list[Listed] = []
    files = list(plugins)
    for controller in _controllers_of(files) if files else builtin_controllers():
        rows += [{"controller": controller["name"]} | parameter for parameter in controller["parameters"]]
    return rows


def listing(what: str, text: str = "", *, kind: str | None = None, plugins: Iterable[str] = ()) -> list[Listed]:
    """Return all entries of one sort (`schemes`, `paths`, `experiments`, `metrics`, ...), as `dumbbell list --json`.

    `text` selects entries that contain all its words, in upper or lower case. `kind` is a kind of
    schemes. With plug-ins, given as for `plugin_schemes` or in the text, only their schemes or parameters are
    listed.

    Raises:
        dumbbell.Error: If there is no such sort or kind.
    """
    from dumbbell.catalog.outside.plugin_schemes import plugin_kind

    words = text.split()
    files = [word for word in words if what in _OF_PLUGINS and (plugin_kind(word) or word.endswith(".toml"))]
    plugins = [*plugins, *files]
    row_functions: dict[str, Callable[[], list[Listed]]] = {
        "schemes": lambda: _scheme_rows(plugins),
        "paths": lambda: [{"name": item.name, "aliases": list(item.aliases)} | item.table() for item in paths()],
        "experiments": _experiment_rows,
        "metrics": lambda: [dict(definition) for definition in metrics()],
        "parameters": lambda: parameters(plugins),
        "suites": _suite_rows,
    }
    if what not in row_functions:
        raise UserError(f"unknown `{what}`{nearest(what, row_functions)}: allowed are {listed(row_functions)}")
    rows = row_functions[what]()
    if kind is not None:
        if what != "schemes":
            raise UserError(f"allowed of schemes only, not of {what}", argument="kind")
        kinds = sorted({row["kind"] for row in rows})
        if kind not in kinds:
            raise UserError(argument="kind", value=kind, allowed=kinds)
        rows = [row for row in rows if row["kind"] == kind]
    search_words = [word.casefold() for word in words if word not in files]
    return [row for row in rows if all(word in _row_text(row) for word in search_words)]


def _row_text(row: Listed) -> str:
    """Return all strings of a row, for the search of words."""
    values = [value if isinstance(value, list) else [value] for value in row.values()]
    return "\n".join(item for value in values for item in value if isinstance(item, str)).casefold()


def _scheme_rows(plugins: Iterable[str]) -> list[Listed]:
    rows = []
    files = list(plugins)
    for item in plugin_schemes(files) if files else schemes():
        reason = missing(item)
        runnable = {"here": "no" if reason else "yes", "missing": reason}
        rows.append({"name": item.name, "aliases": list(item.aliases)} | item.table() | runnable)
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


def _controllers_of(plugins: Iterable[str]) -> "Iterator[Controller]":
    for scheme in plugin_schemes(plugins):
        from dumbbell.catalog.outside.plugin_schemes import plugin_sha256
        from dumbbell.core.controllers import builtin_controllers
        from dumbbell.plugins.isolated import describe  # what it needs is slow to import

        controllers: Iterable[Controller] = (
            describe(scheme.code, plugin_sha256(scheme.code)) if scheme.is_outside else builtin_controllers()
        )
        yield from (item for item in controllers if item["name"] == scheme.controller)
