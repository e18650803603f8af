"""The experiments of the benchmark for schemes under test."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from dumbbell import catalog
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution.trust import Untrusted, trusted_member
from dumbbell.experiment import Experiment
from dumbbell.results.benchmark_directory import listed_members, ordered

STANDARD_PATH = "default"
"""The path of experiments that are about something else: another one may take its place."""


def members(
    schemes: Mapping[str, Scheme],
    quick: bool,
    only: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    path: PathModel | None = None,
    baselines: Mapping[str, Scheme] = MappingProxyType({}),
) -> tuple[list[tuple[ExperimentFile, Experiment]], dict[str, str]]:
    """The experiments for `schemes`, in the order of the index, each with its reference schemes beside them.

    `only` names those that are wanted, if not all; `files` are experiments beside those of the catalog. With a `path`
    they are those that use the standard one, on that instead; why others are left out comes second. The `baselines` run
    in all of them, beside the reference schemes.

    Raises:
        UserError: an unknown experiment, or one that needs real packets.
    """
    chosen = _chosen(ordered([*listed_members(), *map(_joining, files)], quick), only)
    left_out = {
        experiment_file.name: _NOT_STANDARD
        for experiment_file in chosen
        if path and STANDARD_PATH not in experiment_file.paths
    }
    if path is not None:
        chosen = [on_path(experiment_file, path) for experiment_file in chosen if experiment_file.name not in left_out]
    in_catalog = catalog.schemes().names()
    every = {**schemes, **baselines}
    own = {name: scheme for name, scheme in every.items() if name not in in_catalog}
    found = []
    for experiment_file in chosen:
        try:
            experiment = trusted_member(experiment_file, _labels(experiment_file, schemes, baselines), own)
        except UserError as error:
            if path is None or isinstance(error, Untrusted):
                raise
            left_out[experiment_file.name] = str(error)  # an axis that this path cannot take
            continue
        if not experiment.capabilities.repeatable:
            raise UserError(
                f"{experiment_file.file}: `backend` = {experiment.backend}: "
                "the benchmark takes experiments that can be simulated"
            )
        found.append((experiment_file, experiment))
    if not found:
        raise UserError("; ".join(f"{name}: {reason}" for name, reason in left_out.items()))
    return found, left_out


_NOT_STANDARD = f"it has paths of its own, not `{STANDARD_PATH}`"


def on_path(experiment_file: ExperimentFile, path: PathModel) -> ExperimentFile:
    """The experiment file with a path in place of its own."""
    return replace(
        experiment_file,
        paths=[path.name],
        own_paths=experiment_file.own_paths | {path.name: path},
        shorter=replace(experiment_file.shorter, paths=()),
    )


def examined(given: Iterable[str | Scheme]) -> dict[str, Scheme]:
    """The schemes under test by their names.

    Raises:
        UserError: an unknown one, one that needs real packets, or one with the name of another.
    """
    known = catalog.schemes()
    names = known.names()
    found: dict[str, Scheme] = {}
    for each in given:
        scheme = each if isinstance(each, Scheme) else known.find(each)
        if scheme.real:
            raise UserError(
                f"scheme `{scheme.name}` needs real packets: the benchmark takes schemes that can be simulated"
            )
        other = known.find(scheme.name) if scheme.name in names else scheme
        if found.setdefault(scheme.name, other) != scheme:
            raise UserError(
                f"{scheme.file}: the name `{scheme.name}` is taken by another scheme: give it one of its own"
            )
    return found


def _joining(file: str) -> ExperimentFile:
    """An experiment of the user's own that joins."""
    experiment_file = catalog.experiments().find(file)
    if experiment_file.name in catalog.experiments().names():
        raise UserError(f"--experiment {file}: the name `{experiment_file.name}` is taken by a listed experiment")
    if experiment_file.membership is None:
        raise UserError(
            f"{experiment_file.file}: has no [benchmark] table: it says where an experiment belongs and what it shows"
        )
    return experiment_file


def _chosen(experiment_files: list[ExperimentFile], only: tuple[str, ...]) -> list[ExperimentFile]:
    names = [experiment_file.name for experiment_file in experiment_files]
    for name in only:
        if name not in names:
            raise UserError(
                f"unknown part `{name}` of the benchmark{nearest(name, names)}: allowed are {listed(names)}"
            )
    return [experiment_file for experiment_file in experiment_files if not only or experiment_file.name in only]


def _labels(experiment_file: ExperimentFile, schemes: Iterable[str], baselines: Iterable[str]) -> tuple[str, ...]:
    references = experiment_file.membership.references if experiment_file.membership else ()
    return tuple(dict.fromkeys([*schemes, *references, *baselines]))
