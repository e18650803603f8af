"""The simulated runs beside measured ones: an experiment for each path, in a results directory of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.base.conventions import PANTHEON
from dumbbell.base.entry import Entry
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import Experiment, pin, resolve
from dumbbell.results import ACCEPTED, ResultsDirectory
from dumbbell_reproduce.host_delays import HostProfile
from dumbbell_reproduce.kernel_tcp import LINUX, SOCKETS, as_on_linux
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.measured_set import MeasuredRun, MeasuredSet
from dumbbell_reproduce.packets import RunPackets
from dumbbell_reproduce.viewpoint import BOTH_ENDS, SENDER

if TYPE_CHECKING:
    from dumbbell.contract.statistics import RunStats

SUSPECT = "cubic"
"""What runs in place of a scheme whose kernel module is missing."""
MODULES = ("bbr", "vegas")
"""Pantheon's keys of schemes whose kernel module a host may lack."""
OTHER_SOCKETS = "-other-sockets"
"""Ending of the names of schemes that are simulated with the other socket buffers, too."""


@dataclass(frozen=True)
class Change:
    """One thing that is changed: the hosts, the socket buffers, the pacing of the kernel, or the scheme.

    Attributes:
        name: Ending of the name of its directory.
        kind: Kind of the cause that the change shows.
        text: What is changed, in words.
        scheme: The scheme that stands for the simulated one.
    """

    name: str
    kind: str
    text: str
    host: HostProfile = field(default_factory=HostProfile)
    sockets: str | None = None
    has_fq: bool | None = None
    scheme: str | None = None

    def path(self, path: MeasuredPath) -> PathModel:
        """Return the path with the changed hosts."""
        return self.host.path(path.model, f"{path.model.name}-{self.name}", path.socket)

    def scheme_of(self, scheme: Scheme, sockets: str, has_fq: bool) -> Scheme:
        """Return the scheme with what is changed, by its own name."""
        changed = scheme if self.scheme is None else catalog.schemes().find(self.scheme)
        changed = as_on_linux(changed, self.sockets or sockets, has_fq if self.has_fq is None else self.has_fq)
        return replace(self.host.scheme(changed), name=scheme.name)


@dataclass(frozen=True)
class Plan:
    """What is simulated for some measured runs: on which path, with which change."""

    path: MeasuredPath
    experiment: Experiment
    runs: tuple[MeasuredRun, ...]


@dataclass(frozen=True)
class Simulated:
    """The simulated runs beside one measured run: statistics and folders of those that are good."""

    statistics: tuple[RunStats, ...]
    folders: tuple[Entry, ...]

    def packets(self) -> RunPackets | None:
        """The packet log of the first."""
        return RunPackets(self.folders[0]) if self.folders else None


def is_suspected(run: MeasuredRun) -> bool:
    """Whether a run may be CUBIC by another name, and its window can tell."""
    return run.name in MODULES and run.view in (BOTH_ENDS, SENDER)


def plan(
    measured: MeasuredSet,
    path: MeasuredPath,
    runs: int,
    seed: int,
    sockets: str = LINUX,
    change: Change | None = None,
    only: Iterable[MeasuredRun] | None = None,
) -> Plan:
    """Return the experiment that repeats measured runs on their path, between exact hosts or with a change.

    `sockets` is one of `SOCKETS`.

    Raises:
        UserError: it cannot be resolved.
    """
    wanted = tuple(path.runs if only is None else only)
    model = path.model if change is None else change.path(path)
    plain = {run.scheme.name: run.scheme for run in wanted}
    suspected = [] if change is not None else [run.scheme for run in wanted if is_suspected(run)]
    if suspected:
        cubic = catalog.schemes().find(SUSPECT)
        suspected.append(cubic)
        plain[cubic.name] = cubic
    schemes = {
        name: as_on_linux(scheme, sockets, path.has_fq)
        if change is None
        else change.scheme_of(scheme, sockets, path.has_fq)
        for name, scheme in plain.items()
    }
    (others,) = set(SOCKETS) - {sockets}
    for each in suspected:
        name = each.name + OTHER_SOCKETS
        schemes[name] = replace(
            as_on_linux(each, others, path.has_fq), name=name, title=f"{each.title}, {others} sockets"
        )
    planned, schedule = measured.content.experiment, path.schedule
    experiment_file = ExperimentFile(
        name=model.name,
        title=f"{planned.title}, simulated",
        schemes=list(schemes),
        paths=[model.name],
        own_schemes=schemes,
        own_paths={model.name: model},
        runs=runs,
        seed=seed,
        duration_s=planned.duration_s if schedule is None else schedule.duration_s,
        flows=planned.flows,
        interval_s=planned.interval_s,
        flow=() if schedule is None else schedule.flows,
        warmup_s=planned.warmup_s,
        convention=PANTHEON.name,
        log="full" if any(run.view.sees_sender for run in wanted) else "packets",
        file=str(measured.source),
    )
    return Plan(path, pin(resolve(experiment_file)), wanted)


@dataclass(frozen=True)
class Made:
    """A plan and its results; where senders were seen, the runs of each scheme as they saw them."""

    plan: Plan
    results: ResultsDirectory
    by_senders: Mapping[str, Simulated] = field(default_factory=dict)

    def beside(self, run: MeasuredRun, scheme: str | None = None) -> Simulated:
        """The good simulated runs of `scheme`, or of the run's own, as the measured run was seen."""
        name = scheme or run.scheme.name
        if run.view.sees_sender:
            return self.by_senders.get(name, Simulated((), ()))
        statistics, folders = [], []
        for each in self.results.planned():
            if each.scheme == name:
                found = self.results.readable(each)
                if found["status"] in ACCEPTED:
                    statistics.append(found)
                    folders.append(self.results.folder(each))
        return Simulated(tuple(statistics), tuple(folders))
