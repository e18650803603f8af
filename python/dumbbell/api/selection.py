"""Resolution of the names in a request: its experiment, schemes and paths."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.experiment_file import ExperimentFile, parse_mix
from dumbbell.catalog.outside.pantheon import PREFIX, Checkout
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import RunRequest, names_of, paths_of, schemes_of
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import with_request
from dumbbell.results.kept_experiment import KEPT, kept_experiment

DEFAULT = ExperimentFile(name="run", paths=["default"])
"""Default experiment."""


@dataclass(frozen=True)
class OwnItems:
    """Schemes and paths of a request that are in no catalog and no file, by their names."""

    schemes: dict[str, Scheme]
    paths: dict[str, PathModel]

    def of(self, experiment_file: ExperimentFile) -> ExperimentFile:
        """Return the experiment file with these schemes and paths as its own."""
        return replace(
            experiment_file,
            own_schemes=experiment_file.own_schemes | self.schemes,
            own_paths=experiment_file.own_paths | self.paths,
        )


def with_names(request: RunRequest) -> tuple[RunRequest, OwnItems]:
    """Return the request with names instead of schemes and paths, and the items that only the request has."""
    request_schemes, request_paths = schemes_of(request.schemes), paths_of(request.path)
    own_schemes = {scheme.name: _named(scheme) for scheme in request_schemes if isinstance(scheme, Scheme)}
    scheme_names = _SchemeNames(names_of(request.plugins), own_schemes)
    names = [
        scheme.name if isinstance(scheme, Scheme) else scheme_names.name_of(str(scheme)) for scheme in request_schemes
    ]
    mixes = tuple(scheme_names.mix_of(mix) for mix in request.mix_names)
    resolved_request = replace(
        request,
        schemes=(*names, *scheme_names.unnamed()),
        mixes=mixes,
        path=tuple(path.name if isinstance(path, PathModel) else str(path) for path in request_paths),
        cells=request.cell_names,
        settings=request.assignments,
    )
    return resolved_request, OwnItems(
        own_schemes, {path.name: _named(path) for path in request_paths if isinstance(path, PathModel)}
    )


def one_scheme(text: str) -> Scheme:
    """Return the scheme of a name, a file, or `NAME=SCHEME`.

    Raises:
        UserError: If there is no such scheme.
    """
    request, own_items = with_names(RunRequest(schemes=(text,)))
    (name,) = request.scheme_names
    return own_items.schemes.get(name) or catalog.schemes().find(name)


def chosen_experiment_file(request: RunRequest, results_directory: Path | None) -> ExperimentFile:
    """Return the experiment of a request; `results_directory` has results to continue, with their experiment.

    Raises:
        UserError: If there is no such experiment.
    """
    experiment = request.experiment
    if isinstance(experiment, ExperimentFile):
        return experiment
    if experiment is not None:
        _check_spaces(str(experiment), request)
        return catalog.experiments().find(str(experiment))
    if results_directory is None or request.schemes or request.mixes:
        return DEFAULT
    if not (results_directory / KEPT).is_file():
        raise UserError(f"{results_directory}: nothing to resume: there is no {KEPT} in it")
    return kept_experiment(results_directory)


def _check_spaces(experiment: str, request: RunRequest) -> None:
    """Raise an error for `schemes` or `path` that are followed by a further name, which would be the experiment."""
    if experiment.endswith(".toml") or catalog.experiments().knows(experiment):
        return
    lists = (("schemes", request.scheme_names, catalog.schemes), ("path", request.path_names, catalog.paths))
    for name, item_names, index in lists:
        if item_names and index().knows(experiment):
            option = argument(name, form=",".join((*item_names, experiment)))
            raise UserError(f"`{experiment}` is no experiment: names stand between commas: {option}")


def with_pantheon(experiment_file: ExperimentFile, request: RunRequest, directory: Path) -> ExperimentFile:
    """Return the experiment file with its schemes from a Pantheon checkout.

    Packets of Pantheon's tests pass its tunnel. The catalog's paths for these tests have its overhead; so have paths
    from path options (`--trace UP --delay 20ms`) if such schemes run over them.
    """
    checkout = Checkout(directory)
    used = with_request(experiment_file, request)
    names = [*used.schemes, *(flow.scheme for flow in used.flow)]
    names += [name for mix in used.mixes for name, _ in parse_mix(mix)]
    if "all" in names:
        names += checkout.names()
    checkout_schemes = {name: checkout.scheme(name) for name in dict.fromkeys(names) if name.startswith(PREFIX)}
    paths = (
        {name: _tunnelled(path) for name, path in experiment_file.own_paths.items()}
        if checkout_schemes
        else experiment_file.own_paths
    )
    return replace(experiment_file, own_schemes=experiment_file.own_schemes | checkout_schemes, own_paths=paths)


TUNNEL_BYTES = 36
"""Overhead of Pantheon's tunnel: IP, UDP, a number (StanfordSNR/pantheon-tunnel@f866d3f, src/packet/tunnelshell.cc)."""


def _tunnelled(path: PathModel) -> PathModel:
    """Return a path from path options with the tunnel's overhead; every other path unchanged."""
    if path.overhead_bytes or not path.file.startswith("--"):
        return path
    return replace(path, title=f"{path.title}, Pantheon's tunnel", overhead_bytes=TUNNEL_BYTES)


_ALIAS = re.compile(r"([A-Za-z0-9][\w-]*)=(.+)")
"""`NAME=SCHEME`: the scheme under another name. The name of a file before `=` has a `/` or a `.`."""


class _SchemeNames:
    """Names of schemes and their meaning with `--plugin` files, and the schemes with aliases."""

    def __init__(self, plugins: tuple[str, ...], own_schemes: dict[str, Scheme]) -> None:
        """Read the plug-ins. Schemes with aliases are added to `own_schemes`."""
        self._own = own_schemes
        self._files: list[dict[str, str]] = []
        if plugins:
            from dumbbell.catalog.outside.plugin_schemes import given_schemes  # needs a process

            for text in plugins:
                file = text.partition(":")[0]
                self._files.append({scheme.name: f"{file}:{scheme.controller}" for scheme in given_schemes(text)})
        self._named: set[str] = set()

    def name_of(self, text: str) -> str:
        """Return the name that `text` means: itself, a controller of a plug-in, or a scheme under an alias.

        Raises:
            UserError: If an alias has no scheme, or two.
        """
        if alias := _ALIAS.fullmatch(text):
            name, target = alias[1], self.name_of(alias[2])
            scheme = replace(self._own.get(target) or catalog.schemes().find(target), name=name, title=name, aliases=())
            if self._own.setdefault(name, scheme) != scheme:
                raise UserError(f"`{name}` is given to two schemes: give one another name")
            return name
        if catalog.schemes().knows(text):
            return text
        for file in self._files:
            if text in file:
                self._named.add(file[text])
                return file[text]
        return text

    def mix_of(self, text: str) -> str:
        """Return the mix with resolved names. A text that is no mix is returned unchanged; its reader refuses it."""
        try:
            parts = parse_mix(text)
        except UserError:
            return text
        names = [self.name_of(name) for name, _ in parts]
        if names == [name for name, _ in parts]:
            return text
        return "+".join(f"{name}*{count}" for name, (_, count) in zip(names, parts, strict=True))

    def unnamed(self) -> list[str]:
        """Return the controllers of plug-ins without any named controller: all of them run."""
        return [name for file in self._files if not self._named & {*file.values()} for name in file.values()]


def _named(item: Any) -> Any:  # noqa: ANN401 (one helper for two kinds of items)
    """Return the item with a place that messages can name."""
    return item if item.file else replace(item, file=f"{type(item).__name__} `{item.name}`")
