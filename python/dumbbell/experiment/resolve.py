"""Resolution of an experiment: from the written one to one without external dependencies."""

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
from dumbbell.catalog.index import CatalogItem
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
    """An experiment names plug-ins that this user has not run. They were not loaded.

    `plugins` are their digests by file; `other_schemes` are the experiment's other schemes.
    """

    def __init__(self, plugins: Mapping[str, str], other_schemes: Collection[Scheme] = ()) -> None:
        self.plugins = plugins
        self.other_schemes = other_schemes
        super().__init__(
            f"{listed(plugins)}: a plug-in that you have not run before", fix=f"{argument('trust', 'True')} loads it"
        )


MOST_RUNS, MOST_NUMBERED = 100_000, 1_000_000
"""Maximum number of runs of an experiment with files, and of one that keeps only numbers."""

MOST_LISTED = 6
"""Maximum number of cells that a message lists."""

NOTHING = RunRequest()

Item = TypeVar("Item")


def resolve(experiment_file: ExperimentFile, request: RunRequest = NOTHING) -> Experiment:
    """Return the experiment of `experiment_file` with the changes of `request`.

    Raises:
        UserError: If a name is unknown, or values contradict each other.
    """
    experiment_file = over_network(with_request(experiment_file, request), request.path_names)
    mixes = {mix_label(parts): parts for parts in _mixes(experiment_file, request)}
    labels = _labels(experiment_file)
    if not labels and not mixes:
        arguments = f"{argument('schemes')} or {argument('mixes')}"
        raise UserError("no scheme to run", fix=f"name an experiment, or give {arguments}")
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
    schemes_by_name = _schemes(experiment_file, used)
    canonical = {name: scheme.name for name, scheme in schemes_by_name.items()}
    _check_names("scheme", schemes_by_name)
    alone = tuple(dict.fromkeys(canonical[name] for name in labels))
    settings: SettingValues = (
        {"warmup_s": experiment_file.duration_s / 6} | experiment_file.settings() | completed(experiment_file)
    )
    return Experiment(
        **settings,
        name=experiment_file.name,
        title=experiment_file.title,
        flow=_with_canonical_names(experiment_file.flow, canonical),
        labels=alone,
        mixes=tuple(mix_label([(canonical[name], count) for name, count in parts]) for parts in mixes.values()),
        publication=_published_rows(experiment_file, set(alone), {path.name for path in paths}),
        schemes=with_assignments(
            {scheme.name: with_sha256(scheme) for scheme in schemes_by_name.values()}, request.assignments
        ),
        paths={path.name: path for path in paths},
        cells={name: replace(cell, flows=_with_canonical_names(cell.flows, canonical)) for name, cell in cells.items()},
        file=experiment_file.file,
    )


def _check_runs(experiment_file: ExperimentFile, runs: int, schemes: int, paths: int) -> None:
    """Raise an error for more runs than anybody waits for. Even listing them takes a while."""
    count = runs * schemes * paths
    maximum = MOST_NUMBERED if experiment_file.keeps_numbers else MOST_RUNS
    if count > maximum:
        product = f"{runs} of {schemes} schemes or mixes on {paths} paths are {count} runs"
        prefix = f"{experiment_file.file}: " if experiment_file.file else ""
        raise UserError(
            f"{prefix}`runs` = {runs}: {product}: allowed are at most {maximum}"
            + ("" if maximum == MOST_NUMBERED else f", with {argument('keep', form=NUMBERS)} {MOST_NUMBERED}")
        )


def _check_names(kind: str, items: Mapping[str, CatalogItem]) -> None:
    """Raise an error if two schemes or paths have one name, since their results would be mixed."""
    item_of_name: dict[str, tuple[str, CatalogItem]] = {}
    for text, item in items.items():
        other, first = item_of_name.setdefault(item.name, (text, item))
        if item != first:
            raise UserError(f"two {kind}s are called `{item.name}`: `{other}` and `{text}`: give one another name")


def everything(experiment_file: ExperimentFile) -> tuple[list[Scheme], dict[str, str]]:
    """Return the schemes of `all`, and the reasons why others are left out: not runnable, or without a file."""
    candidates = {
        scheme.name: scheme for scheme in catalog.schemes() if not scheme.is_traffic
    } | experiment_file.own_schemes
    if not experiment_file.capabilities.real_packets:
        candidates = {name: scheme for name, scheme in candidates.items() if not scheme.real}
    reasons = {name: missing(scheme) for name, scheme in candidates.items()}
    runnable = [scheme for name, scheme in candidates.items() if reasons[name] is None]
    return runnable, {name: reason for name, reason in reasons.items() if reason is not None}


def _labels(experiment_file: ExperimentFile) -> list[str]:
    labels: list[str] = []
    for name in experiment_file.schemes:
        labels += [scheme.name for scheme in everything(experiment_file)[0]] if name == "all" else [name]
    return labels


def _mixes(experiment_file: ExperimentFile, request: RunRequest) -> list[list[tuple[str, int]]]:
    """Return the mixes as parts. The error for a mix in the experiment's file names the file."""
    try:
        return [parse_mix(mix) for mix in experiment_file.mixes]
    except UserError as error:
        if not experiment_file.file or request.mixes:
            raise
        raise UserError(f"{experiment_file.file}: {error}") from None


def _with_canonical_names(flows: tuple[FlowPlan, ...], canonical: dict[str, str]) -> tuple[FlowPlan, ...]:
    return tuple(replace(flow, scheme=canonical.get(flow.scheme, "")) for flow in flows)


def _schemes(experiment_file: ExperimentFile, names: Sequence[str]) -> dict[str, Scheme]:
    """Return the schemes that the names in an experiment file mean.

    Raises:
        UnknownPlugin: If some are plug-ins that this user has not run; the error has all of them.
        UserError: As for `_scheme`.
    """
    schemes_by_name: dict[str, Scheme] = {}
    unknown: dict[str, str] = {}
    for name in names:
        try:
            schemes_by_name[name] = _scheme(experiment_file, name)
        except UnknownPlugin as error:
            unknown |= error.plugins
    if unknown:
        raise UnknownPlugin(unknown, tuple(schemes_by_name.values()))
    return schemes_by_name


def _scheme(experiment_file: ExperimentFile, name: str) -> Scheme:
    """Return the scheme that a name in an experiment file means.

    Raises:
        UserError: If there is no such scheme; for a name in the experiment's file, the message names the file.
    """
    with _naming(experiment_file, name):
        if name in experiment_file.own_schemes:
            return experiment_file.own_schemes[name]
        find = catalog.schemes().find
        if (
            name not in experiment_file.command_line_names
            and experiment_file.known_plugins is not None
            and plugin_kind(name)
        ):
            find = partial(_known_plugin, experiment_file.known_plugins)
        return _look_up(experiment_file, name, "scheme", find)


def _known_plugin(known_digests: Collection[str], name: str) -> Scheme:
    """Return the scheme of the plug-in `name`, bound to the current code in its file.

    Raises:
        UnknownPlugin: If the digest of this code is not in `known_digests`.
        UserError: As for `plugin_scheme`.
    """
    file = str(full_name("plug-in", Path(name.partition(":")[0])))
    sha256 = plugin_sha256(file)
    if (current_digest := plugin_digest(file, sha256)) not in known_digests:
        raise UnknownPlugin({file: current_digest})
    scheme = plugin_scheme(name, sha256)
    assert scheme is not None  # `name` is the file of a plug-in
    return replace(scheme, files={scheme.code: sha256})


def _path(experiment_file: ExperimentFile, name: str) -> PathModel:
    """Return the path that a name in an experiment file means; errors as for `_scheme`."""
    with _naming(experiment_file, name):
        return experiment_file.own_paths.get(name) or _look_up(experiment_file, name, "path", catalog.paths().find)


def _look_up(experiment_file: ExperimentFile, name: str, kind: str, find: Callable[[str], Item]) -> Item:
    """Return the item of a name that is not in the experiment file. The item may be a file with code."""
    if experiment_file.is_resolved and name not in experiment_file.command_line_names:
        raise UserError(f"`{name}`: there is no `{kind}.{name}`: results bring all that they name")
    return find(name)


@contextmanager
def _naming(experiment_file: ExperimentFile, name: str) -> Iterator[None]:
    try:
        yield
    except UnknownPlugin:
        raise
    except UserError as error:
        if not experiment_file.file or name in experiment_file.command_line_names:
            raise
        raise UserError(f"{experiment_file.file}: {error}") from None


def _paths(experiment_file: ExperimentFile) -> list[PathModel]:
    paths_by_name = {name: _path(experiment_file, name) for name in experiment_file.paths}
    _check_names("path", paths_by_name)
    return list(paths_by_name.values())


def _cells(experiment_file: ExperimentFile) -> dict[str, Cell]:
    """Return the cells of the experiment file's grid on each path. A resolved experiment has its cells already."""
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
    """Return the paths, or the cells of a grid, that `--cell` names."""
    path_of_name = {path.name: path for path in paths}
    for name in names:
        if name not in path_of_name:
            more = f" and {len(path_of_name) - MOST_LISTED} more" if len(path_of_name) > MOST_LISTED else ""
            first_names = listed(list(path_of_name)[:MOST_LISTED])
            problem = f"unknown cell `{name}`{nearest(name, path_of_name)}: allowed are {first_names}{more}"
            raise UserError(problem, argument="cells")
    return [path_of_name[name] for name in dict.fromkeys(names)]


def _published_rows(experiment_file: ExperimentFile, labels: set[str], paths: set[str]) -> Publication:
    """Return the published rows of the paths that run. A scheme that does not run keeps only its title."""
    rows, bare = [], replace(experiment_file, file="")
    for index, row in enumerate(experiment_file.publication.rows):
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
    return replace(experiment_file.publication, rows=tuple(rows))
