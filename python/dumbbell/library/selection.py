"""What a program chooses to run, as the experiment and its overrides."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.catalog.pantheon import PREFIX, Checkout
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.plan import Plan, parse_mix, stored_plan
from dumbbell.catalog.scheme import Scheme
from dumbbell.errors import UserError
from dumbbell.experiment import Overrides, with_overrides

DEFAULT = Plan(name="run", paths=["default"])
"""What is run where no experiment is named."""

Schemes = str | Scheme | Iterable[str | Scheme]
Paths = str | PathModel | PathLike[str] | Iterable[str | PathModel | PathLike[str]]
Names = str | Iterable[str]
Assignments = Mapping[str, object] | Iterable[str]


@dataclass(frozen=True)
class Selection:
    """Overrides, and the schemes and paths among them that no catalog and no file has."""

    overrides: Overrides
    schemes: dict[str, Scheme]
    paths: dict[str, PathModel]

    def of(self, plan: Plan) -> Plan:
        """The plan with these schemes and paths as its own."""
        return replace(plan, own_schemes=plan.own_schemes | self.schemes, own_paths=plan.own_paths | self.paths)


def select(
    schemes: Schemes,
    path: Paths,
    mixes: Names,
    cells: Names,
    given: Mapping[str, object],
    settings: Assignments,
    plugins: Names = (),
) -> Selection:
    """From the arguments of `dumbbell.run`; `given` are settings that may be None."""
    wanted = [schemes] if isinstance(schemes, str | Scheme) else list(schemes)
    where = [path] if isinstance(path, str | PathModel | PathLike) else list(path)
    texts = (
        [f"{name}={_text(value)}" for name, value in settings.items()] if isinstance(settings, Mapping) else settings
    )
    overrides = Overrides(
        schemes=(*(each.name if isinstance(each, Scheme) else str(each) for each in wanted), *_controllers(plugins)),
        mixes=listed_names(mixes),
        paths=tuple(each.name if isinstance(each, PathModel) else str(each) for each in where),
        settings={name: value for name, value in given.items() if value is not None},
        assignments=tuple(texts),
        cells=listed_names(cells),
    )
    return Selection(
        overrides,
        {each.name: _named(each) for each in wanted if isinstance(each, Scheme)},
        {each.name: _named(each) for each in where if isinstance(each, PathModel)},
    )


def chosen_plan(experiment: str | PathLike[str] | Plan | None, overrides: Overrides, resumed: Path | None) -> Plan:
    """The experiment that is meant; `resumed` are results to continue, which know theirs.

    Raises:
        UserError: there is none.
    """
    if isinstance(experiment, Plan):
        return experiment
    if experiment is not None:
        _check_spaces(str(experiment), overrides)
        return catalog.experiments().find(str(experiment))
    if resumed is None or overrides.schemes or overrides.mixes:
        return DEFAULT
    stored = resumed / "experiment.toml"
    if not stored.is_file():
        raise UserError(f"{resumed}: nothing to resume: there is no experiment.toml in it")
    return stored_plan(stored)


def _check_spaces(experiment: str, overrides: Overrides) -> None:
    """Refuses `--schemes cubic bbr` and `--path a b`, where the second word would be the experiment."""
    if experiment in catalog.experiments().names() or experiment.endswith(".toml"):
        return
    lists = (("schemes", overrides.schemes, catalog.schemes), ("path", overrides.paths, catalog.paths))
    for option, given, known in lists:
        if given and experiment in known().names():
            told = ",".join((*given, experiment))
            raise UserError(f"`{experiment}` is no experiment: names stand between commas: --{option} {told}")


def with_pantheon(plan: Plan, overrides: Overrides, directory: Path) -> Plan:
    """Return the plan with the schemes of a Pantheon checkout that it uses.

    Pantheon's tests pass its tunnel. The catalog's paths that stand for them have its overhead; so have paths of a few
    words (`--trace UP --delay 20ms`) when such schemes run over them.
    """
    checkout = Checkout(directory)
    used = with_overrides(plan, overrides)
    names = [*used.schemes, *(flow.scheme for flow in used.flow)]
    names += [name for mix in used.mixes for name, _ in parse_mix(mix)]
    if "all" in names:
        names += checkout.names()
    own = {name: checkout.scheme(name) for name in dict.fromkeys(names) if name.startswith(PREFIX)}
    paths = {name: _tunnelled(path) for name, path in plan.own_paths.items()} if own else plan.own_paths
    return replace(plan, own_schemes=plan.own_schemes | own, own_paths=paths)


TUNNEL_BYTES = 36
"""Overhead of Pantheon's tunnel: IP, UDP, a number (StanfordSNR/pantheon-tunnel@f866d3f, src/packet/tunnelshell.cc)."""


def _tunnelled(path: PathModel) -> PathModel:
    """Return a path of a few words with the tunnel's overhead; every other path as it is."""
    if path.overhead_bytes or not path.file.startswith("--"):
        return path
    return replace(path, title=f"{path.title}, Pantheon's tunnel", overhead_bytes=TUNNEL_BYTES)


def _controllers(plugins: Names) -> list[str]:
    """The controllers in the files of plug-ins, each as the name of a scheme."""
    if not plugins:
        return []
    from dumbbell.plugins.schemes import given_schemes

    files = listed_names(plugins)
    return [f"{text.partition(':')[0]}:{scheme.controller}" for text in files for scheme in given_schemes(text)]


def listed_names(given: Names) -> tuple[str, ...]:
    """One name or several, as several."""
    return (given,) if isinstance(given, str) else tuple(given)


def _named(item: Any) -> Any:  # noqa: ANN401 (one helper for two kinds of items)
    """The item with a place that messages can name."""
    return item if item.file else replace(item, file=f"{type(item).__name__} `{item.name}`")


def _text(value: object) -> str:
    """As it would be typed."""
    return value if isinstance(value, str) else json.dumps(value)
