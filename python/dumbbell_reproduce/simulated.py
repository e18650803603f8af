"""Simulated repetitions of measured runs: an experiment for each path, in a results directory of its own."""

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
"""Scheme that runs in place of a scheme whose kernel module is missing."""
MODULES = ("bbr", "vegas")
"""Pantheon's keys of schemes whose kernel module a host may lack."""
OTHER_SOCKETS = "-other-sockets"
"""Ending of the names of schemes that are also simulated with the other socket buffers."""


@dataclass(frozen=True)
class Change:
    """One changed property: the hosts, the socket buffers, the pacing of the kernel, or the scheme.

    Attributes:
        name: Ending of the name of its directory.
        kind: Kind of the cause that the change shows.
        text: Description of the change.
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
        """Return the scheme with the change, under its own name."""
        result = scheme if self.scheme is None else catalog.schemes().find(self.scheme)
        result = as_on_linux(result, self.sockets or sockets, has_fq if self.has_fq is None else self.has_fq)
        return replace(self.host.scheme(result), name=scheme.name)


@dataclass(frozen=True)
class Plan:
    """The simulation of some measured runs on a path: experiment, runs, and the change in the path."""

    path: MeasuredPath
    experiment: Experiment
    runs: tuple[MeasuredRun, ...]


@dataclass(frozen=True)
class SimulatedRuns:
    """The successful simulated runs that repeat one measured run: their statistics and folders."""

    statistics: tuple[RunStats, ...]
    folders: tuple[Entry, ...]

    def packets(self) -> RunPackets | None:
        """Return the packet log of the first simulated run; None without runs."""
        return RunPackets(self.folders[0]) if self.folders else None


def is_suspected(run: MeasuredRun) -> bool:
    """Return True if a run may be CUBIC under another name, and its window can show this."""
    return run.name in MODULES and run.view in (BOTH_ENDS, SENDER)


def plan(
    measured_set: MeasuredSet,
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
        UserError: the experiment cannot be resolved.
    """
    selected_runs = tuple(path.runs if only is None else only)
    model = path.model if change is None else change.path(path)
    plain = {run.scheme.name: run.scheme for run in selected_runs}
    suspects = [] if change is not None else [run.scheme for run in selected_runs if is_suspected(run)]
    if suspects:
        cubic = catalog.schemes().find(SUSPECT)
        suspects.append(cubic)
        plain[cubic.name] = cubic
    schemes = {
        name: as_on_linux(scheme, sockets, path.has_fq)
        if change is None
        else change.scheme_of(scheme, sockets, path.has_fq)
        for name, scheme in plain.items()
    }
    (other_sockets,) = set(SOCKETS) - {sockets}
    for suspect in suspects:
        name = suspect.name + OTHER_SOCKETS
        schemes[name] = replace(
            as_on_linux(suspect, other_sockets, path.has_fq),
            name=name,
            title=f"{suspect.title}, {other_sockets} sockets",
        )
    measured_experiment, schedule = measured_set.content.experiment, path.schedule
    experiment_file = ExperimentFile(
        name=model.name,
        title=f"{measured_experiment.title}, simulated",
        schemes=list(schemes),
        paths=[model.name],
        own_schemes=schemes,
        own_paths={model.name: model},
        runs=runs,
        seed=seed,
        duration_s=measured_experiment.duration_s if schedule is None else schedule.duration_s,
        flows=measured_experiment.flows,
        interval_s=measured_experiment.interval_s,
        flow=() if schedule is None else schedule.flows,
        warmup_s=measured_experiment.warmup_s,
        convention=PANTHEON.name,
        log="full" if any(run.view.sees_sender for run in selected_runs) else "packets",
        file=str(measured_set.source),
    )
    return Plan(path, pin(resolve(experiment_file)), selected_runs)


@dataclass(frozen=True)
class SimulatedPlan:
    """A plan and its results. If runs were seen from the sender, `by_senders` has the simulated runs in that view."""

    plan: Plan
    results: ResultsDirectory
    by_senders: Mapping[str, SimulatedRuns] = field(default_factory=dict)

    def simulated_runs(self, run: MeasuredRun, scheme: str | None = None) -> SimulatedRuns:
        """Return the successful simulated runs for a measured run, or of `scheme`, seen from the same viewpoint."""
        name = scheme or run.scheme.name
        if run.view.sees_sender:
            return self.by_senders.get(name, SimulatedRuns((), ()))
        statistics, folders = [], []
        for planned_run in self.results.planned():
            if planned_run.scheme == name:
                run_statistics = self.results.readable(planned_run)
                if run_statistics["status"] in ACCEPTED:
                    statistics.append(run_statistics)
                    folders.append(self.results.folder(planned_run))
        return SimulatedRuns(tuple(statistics), tuple(folders))
