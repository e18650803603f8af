"""The names of a request resolved: its experiment, schemes and paths."""

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
"""What is run where no experiment is named."""


@dataclass(frozen=True)
class Own:
    """Schemes and paths of a request that no catalog and no file has, by their names."""

    schemes: dict[str, Scheme]
    paths: dict[str, PathModel]

    def of(self, experiment_file: ExperimentFile) -> ExperimentFile:
        """Return the experiment file with these schemes and paths as its own."""
        return replace(
            experiment_file,
            own_schemes=experiment_file.own_schemes | self.schemes,
            own_paths=experiment_file.own_paths | self.paths,
        )


def named(request: RunRequest) -> tuple[RunRequest, Own]:
    """Return the request with names in place of all schemes and paths, and those that only the request has."""
    wanted, where = schemes_of(request.schemes), paths_of(request.path)
    own = {each.name: _named(each) for each in wanted if isinstance(each, Scheme)}
    known = _SchemeNames(names_of(request.plugins), own)
    names = [each.name if isinstance(each, Scheme) else known.meant(str(each)) for each in wanted]
    mixed = tuple(known.meant_mix(mix) for mix in request.mix_names)
    resolved = replace(
        request,
        schemes=(*names, *known.unnamed()),
        mixes=mixed,
        path=tuple(each.name if isinstance(each, PathModel) else str(each) for each in where),
        cells=request.cell_names,
        settings=request.assignments,
    )
    return resolved, Own(own, {each.name: _named(each) for each in where if isinstance(each, PathModel)})


def one_scheme(given: str) -> Scheme:
    """Return the scheme that a name, a file, or `NAME=SCHEME` means.

    Raises:
        UserError: there is none.
    """
    request, own = named(RunRequest(schemes=(given,)))
    (chosen,) = request.scheme_names
    return own.schemes.get(chosen) or catalog.schemes().find(chosen)


def chosen_experiment_file(request: RunRequest, resumed: Path | None) -> ExperimentFile:
    """The experiment that is meant; `resumed` are results to continue, which know theirs.

    Raises:
        UserError: there is none.
    """
    experiment = request.experiment
    if isinstance(experiment, ExperimentFile):
        return experiment
    if experiment is not None:
        _check_spaces(str(experiment), request)
        return catalog.experiments().find(str(experiment))
    if resumed is None or request.schemes or request.mixes:
        return DEFAULT
    if not (resumed / KEPT).is_file():
        raise UserError(f"{resumed}: nothing to resume: there is no {KEPT} in it")
    return kept_experiment(resumed)


def _check_spaces(experiment: str, request: RunRequest) -> None:
    """Refuse `schemes` and `path` behind which another name stands, which would be the experiment."""
    if experiment.endswith(".toml") or catalog.experiments().knows(experiment):
        return
    lists = (("schemes", request.scheme_names, catalog.schemes), ("path", request.path_names, catalog.paths))
    for name, given, known in lists:
        if given and known().knows(experiment):
            option = argument(name, form=",".join((*given, experiment)))
            raise UserError(f"`{experiment}` is no experiment: names stand between commas: {option}")


def with_pantheon(experiment_file: ExperimentFile, request: RunRequest, directory: Path) -> ExperimentFile:
    """Return the experiment file with the schemes of a Pantheon checkout that it uses.

    Pantheon's tests pass its tunnel. The catalog's paths that stand for them have its overhead; so have paths of a few
    words (`--trace UP --delay 20ms`) when such schemes run over them.
    """
    checkout = Checkout(directory)
    used = with_request(experiment_file, request)
    names = [*used.schemes, *(flow.scheme for flow in used.flow)]
    names += [name for mix in used.mixes for name, _ in parse_mix(mix)]
    if "all" in names:
        names += checkout.names()
    own = {name: checkout.scheme(name) for name in dict.fromkeys(names) if name.startswith(PREFIX)}
    paths = (
        {name: _tunnelled(path) for name, path in experiment_file.own_paths.items()}
        if own
        else experiment_file.own_paths
    )
    return replace(experiment_file, own_schemes=experiment_file.own_schemes | own, own_paths=paths)


TUNNEL_BYTES = 36
"""Overhead of Pantheon's tunnel: IP, UDP, a number (StanfordSNR/pantheon-tunnel@f866d3f, src/packet/tunnelshell.cc)."""


def _tunnelled(path: PathModel) -> PathModel:
    """Return a path of a few words with the tunnel's overhead; every other path as it is."""
    if path.overhead_bytes or not path.file.startswith("--"):
        return path
    return replace(path, title=f"{path.title}, Pantheon's tunnel", overhead_bytes=TUNNEL_BYTES)


_ALIAS = re.compile(r"([A-Za-z0-9][\w-]*)=(.+)")
"""`NAME=SCHEME`: the scheme under another name. A file's name before `=` has a `/` or a `.` in it."""


class _SchemeNames:
    """What names of schemes mean beside `--plugin` files, and the schemes that have been given another name."""

    def __init__(self, plugins: tuple[str, ...], own: dict[str, Scheme]) -> None:
        """Aliases are added to `own`."""
        self._own = own
        self._files: list[dict[str, str]] = []
        if plugins:
            from dumbbell.catalog.outside.plugin_schemes import given_schemes  # needs a process

            for text in plugins:
                file = text.partition(":")[0]
                self._files.append({each.name: f"{file}:{each.controller}" for each in given_schemes(text)})
        self._named: set[str] = set()

    def meant(self, text: str) -> str:
        """Return the name for what `text` stands for: itself, a controller of a plug-in, or a scheme under an alias.

        Raises:
            UserError: an alias of nothing, or of two schemes.
        """
        if alias := _ALIAS.fullmatch(text):
            name, target = alias[1], self.meant(alias[2])
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

    def meant_mix(self, text: str) -> str:
        """Return the mix with every name resolved. Text that is no mix is returned as it is; its reader refuses it."""
        try:
            parts = parse_mix(text)
        except UserError:
            return text
        names = [self.meant(name) for name, _ in parts]
        if names == [name for name, _ in parts]:
            return text
        return "+".join(f"{name}*{count}" for name, (_, count) in zip(names, parts, strict=True))

    def unnamed(self) -> list[str]:
        """Return the controllers of plug-ins of which none was named: all of them run."""
        return [name for file in self._files if not self._named & {*file.values()} for name in file.values()]


def _named(item: Any) -> Any:  # noqa: ANN401 (one helper for two kinds of items)
    """The item with a place that messages can name."""
    return item if item.file else replace(item, file=f"{type(item).__name__} `{item.name}`")
