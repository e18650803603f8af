"""Experiments of the benchmark for schemes under test."""

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
"""Path of experiments on other subjects: another path may replace it."""


def members(
    schemes: Mapping[str, Scheme],
    quick: bool,
    only: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    path: PathModel | None = None,
    baselines: Mapping[str, Scheme] = MappingProxyType({}),
) -> tuple[list[tuple[ExperimentFile, Experiment]], dict[str, str]]:
    """Return the experiments for `schemes`, in the order of the index, each with its reference schemes.

    `only` names the requested experiments, if not all; `files` are experiments beside those of the catalog. With a
    `path`, only experiments on the standard path are returned, on `path` instead; the second value has the reasons for
    those left out. The `baselines` run in all of them, beside the reference schemes.

    Raises:
        UserError: An experiment is unknown, or needs real packets.
    """
    selection = _select(ordered([*listed_members(), *map(_user_member, files)], quick), only)
    left_out = {
        experiment_file.name: _NOT_STANDARD
        for experiment_file in selection
        if path and STANDARD_PATH not in experiment_file.paths
    }
    if path is not None:
        selection = [
            on_path(experiment_file, path) for experiment_file in selection if experiment_file.name not in left_out
        ]
    in_catalog = catalog.schemes().names()
    every = {**schemes, **baselines}
    own_schemes = {name: scheme for name, scheme in every.items() if name not in in_catalog}
    resolved_members = []
    for experiment_file in selection:
        try:
            experiment = trusted_member(experiment_file, _labels(experiment_file, schemes, baselines), own_schemes)
        except UserError as error:
            if path is None or isinstance(error, Untrusted):
                raise
            left_out[experiment_file.name] = str(error)  # an axis does not suit this path
            continue
        if not experiment.capabilities.repeatable:
            raise UserError(
                f"{experiment_file.file}: `backend` = {experiment.backend}: "
                "the benchmark takes experiments that can be simulated"
            )
        resolved_members.append((experiment_file, experiment))
    if not resolved_members:
        raise UserError("; ".join(f"{name}: {reason}" for name, reason in left_out.items()))
    return resolved_members, left_out


_NOT_STANDARD = f"it has paths of its own, not `{STANDARD_PATH}`"


def on_path(experiment_file: ExperimentFile, path: PathModel) -> ExperimentFile:
    """Return the experiment file with `path` in place of its own paths."""
    return replace(
        experiment_file,
        paths=[path.name],
        own_paths=experiment_file.own_paths | {path.name: path},
        shorter=replace(experiment_file.shorter, paths=()),
    )


def examined(schemes: Iterable[str | Scheme]) -> dict[str, Scheme]:
    """Return the schemes under test by name.

    Raises:
        UserError: A scheme is unknown, needs real packets, or has the name of another one.
    """
    catalog_schemes = catalog.schemes()
    names = catalog_schemes.names()
    schemes_by_name: dict[str, Scheme] = {}
    for entry in schemes:
        scheme = entry if isinstance(entry, Scheme) else catalog_schemes.find(entry)
        if scheme.real:
            raise UserError(
                f"scheme `{scheme.name}` needs real packets: the benchmark takes schemes that can be simulated"
            )
        namesake = catalog_schemes.find(scheme.name) if scheme.name in names else scheme
        if schemes_by_name.setdefault(scheme.name, namesake) != scheme:
            raise UserError(
                f"{scheme.file}: the name `{scheme.name}` is taken by another scheme: give it one of its own"
            )
    return schemes_by_name


def _user_member(file: str) -> ExperimentFile:
    """Return an experiment of the user for the benchmark."""
    experiment_file = catalog.experiments().find(file)
    if experiment_file.name in catalog.experiments().names():
        problem = f"the name `{experiment_file.name}` is taken by a listed experiment"
        raise UserError(problem, argument="experiments", value=file)
    if experiment_file.membership is None:
        raise UserError(
            f"{experiment_file.file}: has no [benchmark] table: it says where an experiment belongs and what it shows"
        )
    return experiment_file


def _select(experiment_files: list[ExperimentFile], only: tuple[str, ...]) -> list[ExperimentFile]:
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
