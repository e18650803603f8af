"""The simulated runs beside measured ones: an experiment for each path, in a results directory of its own."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.base.conventions import PANTHEON
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import Experiment, pin, resolve
from dumbbell.results import ACCEPTED, ResultsDirectory
from dumbbell.studies.reproduce.host import HostProfile
from dumbbell.studies.reproduce.measured import MeasuredRun, MeasuredSet
from dumbbell.studies.reproduce.measured_path import MeasuredPath
from dumbbell.studies.reproduce.packets import RunPackets

SUSPECT = "cubic-linux-buffers"
"""CUBIC with Linux's socket buffers, which may have run in place of a scheme that needs a kernel module."""
MODULES = ("bbr", "vegas")
"""Pantheon's keys of schemes whose kernel module a host may lack."""


@dataclass(frozen=True)
class Plan:
    """What is simulated for some measured runs: on which path, between which hosts."""

    path: MeasuredPath
    experiment: Experiment
    runs: tuple[MeasuredRun, ...]
    host: HostProfile | None = None


@dataclass(frozen=True)
class Simulated:
    """The simulated runs beside one measured run: statistics and folders of those that are good."""

    statistics: tuple[Mapping[str, Any], ...]
    folders: tuple[Path, ...]

    def packets(self) -> RunPackets | None:
        """The packet log of the first."""
        return RunPackets(self.folders[0]) if self.folders else None


def plan(
    measured: MeasuredSet,
    path: MeasuredPath,
    runs: int,
    seed: int,
    host: HostProfile | None = None,
    only: Iterable[MeasuredRun] | None = None,
    suffix: str = "",
) -> Plan:
    """Return the experiment that repeats measured runs on their path, between exact hosts or those of `host`.

    Raises:
        UserError: it cannot be resolved.
    """
    wanted = tuple(path.runs if only is None else only)
    model = path.model if host is None else host.path(path.model, f"{path.model.name}{suffix}")
    schemes = {run.scheme.name: run.scheme for run in wanted}
    if host is not None:
        schemes = {name: host.scheme(scheme) for name, scheme in schemes.items()}
    elif any(run.name in MODULES for run in wanted):
        schemes[SUSPECT] = suspect()
    planned = measured.content.experiment
    experiment_file = ExperimentFile(
        name=model.name,
        title=f"{planned.title}, simulated",
        schemes=list(schemes),
        paths=[model.name],
        own_schemes=schemes,
        own_paths={model.name: model},
        runs=runs,
        seed=seed,
        duration_s=planned.duration_s,
        flows=planned.flows,
        interval_s=planned.interval_s,
        warmup_s=planned.warmup_s,
        convention=PANTHEON.name,
        log="packets",
        file=str(measured.source),
    )
    return Plan(path, pin(resolve(experiment_file)), wanted, host)


def suspect() -> Scheme:
    """CUBIC as a host without another kernel module runs it."""
    cubic = catalog.schemes().find("cubic")
    return replace(cubic, name=SUSPECT, title="TCP CUBIC, Linux's buffers", transport={"profile": "linux"})


def simulated(results: ResultsDirectory, path: str, scheme: str) -> Simulated:
    """The good runs of a scheme on a path."""
    statistics, folders = [], []
    for run in results.planned():
        if (run.path, run.scheme) == (path, scheme):
            found = results.readable(run)
            if found["status"] in ACCEPTED:
                statistics.append(found)
                folders.append(results.folder(run))
    return Simulated(tuple(statistics), tuple(folders))
