"""From an experiment as written to one that depends on nothing outside."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from dumbbell import catalog
from dumbbell.base.errors import UserError, argument, full_name, listed, nearest
from dumbbell.catalog.experiment_file import ExperimentFile, mix_label, parse_mix
from dumbbell.catalog.experiment_settings import NUMBERS, SettingValues
from dumbbell.catalog.grids import grid
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.index import Named
from dumbbell.catalog.outside.availability import missing
from dumbbell.catalog.outside.plugin_schemes import (
    plugin_digest,
    plugin_kind,
    plugin_scheme,
    plugin_sha256,
    with_sha256,
)
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.published import Publication
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment.network import over_network
from dumbbell.experiment.planned import Experiment
from dumbbell.experiment.requested import with_assignments, with_request
from dumbbell.experiment.setting_groups import completed


class UnknownPlugin(UserError):
    """An experiment names plug-ins that this user has not run; they were not loaded.

    `plugins` are their digests by file; `others` are the schemes that the experiment has beside them.
    """

    def __init__(self, plugins: Mapping[str, str], others: Collection[Scheme] = ()) -> None:
        self.plugins = plugins
        self.others = others
        super().__init__(
            f"{listed(plugins)}: a plug-in that you have not run before", fix=f"{argument('trust', 'True')} loads it"
        )


MOST_RUNS, MOST_NUMBERED = 100_000, 1_000_000
"""Most runs of an experiment with files, and of one of which only the numbers are kept."""

MOST_LISTED = 6
"""Cells that a message lists."""

NOTHING = RunRequest()

Item = TypeVar("Item")


def resolve(experiment_file: ExperimentFile, request: RunRequest = NOTHING) -> Experiment:
    """The experiment that `experiment_file` and `request` describe together.

    Raises:
        UserError: an unknown name, or values that contradict each other.
    """
    experiment_file = over_network(with_request(experiment_file, request), request.path_names)
    mixes = {mix_label(parts): parts for parts in _mixes(experiment_file, request)}
    labels = _labels(experiment_file)
    if not labels and not mixes:
        either = f"{argument('schemes')} or {argument('mixes')}"
        raise UserError("no scheme to run", fix=f"name an experiment, or give {either}")
    if not experiment_file.paths:
        raise UserError("no path to run on", fix=f"give {argument('path')}")
    cells = _cells(experiment_file)
    paths = [cell.path for cell in cells.values()] or _paths(experiment_file)
    if request.cell_names:
        paths = _only(paths, request.cell_names)
        cells = {path.name: cells[path.name] for path in paths if path.name in cells}
    _check_runs(
        experiment_file,
        completed(experiment_file).get("runs", experiment_file.runs),
        len({*labels}) + len(mixes),
        len(paths),
    )
    listed_flows = [flow for cell in cells.values() for flow in cell.flows] or list(experiment_file.flow)
    if mixes and any(not flow.scheme for flow in listed_flows):
        takes = f"it takes {argument('schemes')}, not {argument('mixes')}"
        raise UserError(f"{experiment_file.file}: lists its flows: {takes}")
    used = [
        *labels,
        *(name for parts in mixes.values() for name, _ in parts),
        *(f.scheme for f in listed_flows if f.scheme),
    ]
    found = _schemes(experiment_file, used)
    canonical = {name: scheme.name for name, scheme in found.items()}
    _check_names("scheme", found)
    alone = tuple(dict.fromkeys(canonical[name] for name in labels))
    settings: SettingValues = (
        {"warmup_s": experiment_file.duration_s / 6} | experiment_file.settings() | completed(experiment_file)
    )
    return Experiment(
        **settings,
        name=experiment_file.name,
        title=experiment_file.title,
        flow=_named(experiment_file.flow, canonical),
        labels=alone,
        mixes=tuple(mix_label([(canonical[name], count) for name, count in parts]) for parts in mixes.values()),
        published=_published(experiment_file, set(alone), {path.name for path in paths}),
        schemes=with_assignments({scheme.name: with_sha256(scheme) for scheme in found.values()}, request.assignments),
        paths={path.name: path for path in paths},
        cells={name: replace(cell, flows=_named(cell.flows, canonical)) for name, cell in cells.items()},
        file=experiment_file.file,
    )


def _check_runs(experiment_file: ExperimentFile, runs: int, schemes: int, paths: int) -> None:
    """Refuses more runs than anybody waits for: even to list them takes a while."""
    count = runs * schemes * paths
    most = MOST_NUMBERED if experiment_file.keeps_numbers else MOST_RUNS
    if count > most:
        made = f"{runs} of {schemes} schemes or mixes on {paths} paths are {count} runs"
        where = f"{experiment_file.file}: " if experiment_file.file else ""
        raise UserError(
            f"{where}`runs` = {runs}: {made}: allowed are at most {most}"
            + ("" if most == MOST_NUMBERED else f", with {argument('keep', form=NUMBERS)} {MOST_NUMBERED}")
        )


def _check_names(kind: str, found: Mapping[str, Named]) -> None:
    """Refuses two schemes or paths of one name: their results would be taken for the same."""
    known: dict[str, tuple[str, Named]] = {}
    for text, item in found.items():
        other, first = known.setdefault(item.name, (text, item))
        if item != first:
            raise UserError(f"two {kind}s are called `{item.name}`: `{other}` and `{text}`: give one another name")


def everything(experiment_file: ExperimentFile) -> tuple[list[Scheme], dict[str, str]]:
    """The schemes behind `all`, and why others are left out: they cannot run here, or need a file of the user's."""
    known = {scheme.name: scheme for scheme in catalog.schemes() if not scheme.is_traffic} | experiment_file.own_schemes
    if not experiment_file.capabilities.real_packets:
        known = {name: scheme for name, scheme in known.items() if not scheme.real}
    reasons = {name: missing(scheme) for name, scheme in known.items()}
    chosen = [scheme for name, scheme in known.items() if reasons[name] is None]
    return chosen, {name: reason for name, reason in reasons.items() if reason is not None}


def _labels(experiment_file: ExperimentFile) -> list[str]:
    labels: list[str] = []
    for name in experiment_file.schemes:
        labels += [scheme.name for scheme in everything(experiment_file)[0]] if name == "all" else [name]
    return labels


def _mixes(experiment_file: ExperimentFile, request: RunRequest) -> list[list[tuple[str, int]]]:
    """The mixes in parts; a refusal of one that stands in the experiment's file comes with the file."""
    try:
        return [parse_mix(mix) for mix in experiment_file.mixes]
    except UserError as error:
        if not experiment_file.file or request.mixes:
            raise
        raise UserError(f"{experiment_file.file}: {error}") from None


def _named(flows: tuple[FlowPlan, ...], canonical: dict[str, str]) -> tuple[FlowPlan, ...]:
    return tuple(replace(flow, scheme=canonical.get(flow.scheme, "")) for flow in flows)


def _schemes(experiment_file: ExperimentFile, names: Sequence[str]) -> dict[str, Scheme]:
    """The schemes that an experiment file means by the names.

    Raises:
        UnknownPlugin: there are plug-ins among them that this user has not run; it tells all of them.
        UserError: as of `_scheme`.
    """
    found: dict[str, Scheme] = {}
    unknown: dict[str, str] = {}
    for name in names:
        try:
            found[name] = _scheme(experiment_file, name)
        except UnknownPlugin as error:
            unknown |= error.plugins
    if unknown:
        raise UnknownPlugin(unknown, tuple(found.values()))
    return found


def _scheme(experiment_file: ExperimentFile, name: str) -> Scheme:
    """The scheme that an experiment file means by the name.

    Raises:
        UserError: there is none. A name that stands in the experiment's file comes with the file.
    """
    with _naming(experiment_file, name):
        if name in experiment_file.own_schemes:
            return experiment_file.own_schemes[name]
        find = catalog.schemes().find
        if name not in experiment_file.told and experiment_file.known_plugins is not None and plugin_kind(name):
            find = partial(_known_plugin, experiment_file.known_plugins)
        return _looked_up(experiment_file, name, "scheme", find)


def _known_plugin(known: Collection[str], name: str) -> Scheme:
    """Return the scheme of the plug-in `name`, bound to the code that its file holds now.

    Raises:
        UnknownPlugin: the digest of this code is not among `known`.
        UserError: as of `plugin_scheme`.
    """
    file = str(full_name("plug-in", Path(name.partition(":")[0])))
    sha256 = plugin_sha256(file)
    if (found := plugin_digest(file, sha256)) not in known:
        raise UnknownPlugin({file: found})
    scheme = plugin_scheme(name, sha256)
    assert scheme is not None  # as `name` is the file of a plug-in
    return replace(scheme, files={scheme.code: sha256})


def _path(experiment_file: ExperimentFile, name: str) -> PathModel:
    """The path that an experiment file means by the name; refused in the same way."""
    with _naming(experiment_file, name):
        return experiment_file.own_paths.get(name) or _looked_up(experiment_file, name, "path", catalog.paths().find)


def _looked_up(experiment_file: ExperimentFile, name: str, kind: str, find: Callable[[str], Item]) -> Item:
    """Whatever a name stands for outside of the experiment file, which may be a file with code."""
    if experiment_file.closed and name not in experiment_file.told:
        raise UserError(f"`{name}`: there is no `{kind}.{name}`: results bring all that they name")
    return find(name)


@contextmanager
def _naming(experiment_file: ExperimentFile, name: str) -> Iterator[None]:
    try:
        yield
    except UnknownPlugin:
        raise
    except UserError as error:
        if not experiment_file.file or name in experiment_file.told:
            raise
        raise UserError(f"{experiment_file.file}: {error}") from None


def _paths(experiment_file: ExperimentFile) -> list[PathModel]:
    found = {name: _path(experiment_file, name) for name in experiment_file.paths}
    _check_names("path", found)
    return list(found.values())


def _cells(experiment_file: ExperimentFile) -> dict[str, Cell]:
    """The cells of the experiment file's grid, on each path; those of a resolved experiment are there already."""
    if experiment_file.cells:
        return experiment_file.cells
    if not experiment_file.grid:
        return {}
    template = experiment_file.flow
    if not template and experiment_file.flows > 1:
        template = tuple(FlowPlan(start_s=index * experiment_file.interval_s) for index in range(experiment_file.flows))
    source = experiment_file.file or experiment_file.name
    grid.check_count(experiment_file.grid, len(experiment_file.paths), source)
    paths = _paths(experiment_file)
    grid.check_size(experiment_file.grid, paths, template, source)
    return {cell.path.name: cell for path in paths for cell in grid.cells(path, template, experiment_file.grid, source)}


def _only(paths: list[PathModel], names: tuple[str, ...]) -> list[PathModel]:
    """The paths, or cells of a grid, that `--cell` names."""
    known = {path.name: path for path in paths}
    for name in names:
        if name not in known:
            more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
            some = listed(list(known)[:MOST_LISTED])
            problem = f"unknown cell `{name}`{nearest(name, known)}: allowed are {some}{more}"
            raise UserError(problem, argument="cells")
    return [known[name] for name in dict.fromkeys(names)]


def _published(experiment_file: ExperimentFile, labels: set[str], paths: set[str]) -> Publication:
    """The published rows of the paths that run. A scheme that does not run keeps only its title."""
    rows, bare = [], replace(experiment_file, file="")
    for index, row in enumerate(experiment_file.published.rows):
        try:
            scheme = _scheme(bare, row.scheme) if row.scheme else None
            path = _path(bare, row.path).name if row.path else ""
        except UserError as error:
            raise UserError(f"{experiment_file.file}: `published[{index}]`: {error}") from None
        if scheme is not None:
            name = scheme.name if scheme.name in labels else ""
            row = replace(row, scheme=name, title=row.title or scheme.title)
        if not path or path in paths:
            rows.append(replace(row, path=path))
    return replace(experiment_file.published, rows=tuple(rows))
