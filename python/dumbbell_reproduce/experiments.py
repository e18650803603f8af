"""Experiments that simulate deviating runs again with one change, to find an explanation.

Some experiments change the hosts. A run gets the host that best fits the other runs on its path, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dumbbell.base.names import fitted
from dumbbell_reproduce.causes import BUFFER, JITTER, PACING, START
from dumbbell_reproduce.host_delays import ExtraDelay, HostEstimate, HostProfile
from dumbbell_reproduce.kernel_tcp import LINUX, UNLIMITED, is_tcp, paces_itself
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.measured_set import Key, MeasuredRun, MeasuredSet
from dumbbell_reproduce.score import Comparison, compare, is_off, likelihood
from dumbbell_reproduce.simulated import Change, Plan, SimulatedRuns

LEAST_GAIN = 3.0
"""Log-likelihood that a host has to gain over exact hosts. Chance reaches the gain once in 20 cases."""
_TYPICAL_MS = 0.8
"""Median lateness of the hosts of public logs in one direction (docs/how-to/reproduce.md)."""
_STEADY_MS = 0.1
WAKES_MS = (1.0, 2.0, 5.0, 10.0)
"""Times between two wake-ups of the tried hosts, ms."""
_STANDS_FOR = {"cubic": "cubic-linux"}
"""Schemes of the kernel that start in another way than the simulated schemes."""


def tried_hosts(path: MeasuredPath) -> Iterator[Change]:
    """Yield the hosts that are tried on each path with a deviating run."""
    late = ExtraDelay(_TYPICAL_MS, _STEADY_MS)
    yield _host(path, "late", HostProfile(late, late))
    for wakes_ms in WAKES_MS:
        yield _host(path, f"wakes-{wakes_ms:g}", HostProfile(wakes_ms=wakes_ms))


def _host(path: MeasuredPath, name: str, profile: HostProfile) -> Change:
    cause = "the host" if path.has_link_log else "the host or the link"
    return Change(name, JITTER if profile.is_late else BUFFER, f"{cause}: {profile.text()}", profile)


def told_hosts(
    path: MeasuredPath, estimates: Iterable[tuple[MeasuredPath, HostEstimate, Key]], groups: Sequence[Collection[Key]]
) -> Iterator[tuple[Change, Collection[Key]]]:
    """Yield the hosts that some runs of `estimates` show, each with the group of runs left out of the estimate."""
    all_estimates = list(estimates)
    for number, group in enumerate(groups, 1):
        same_path = [
            estimate for estimate_path, estimate, key in all_estimates if estimate_path is path and key not in group
        ]
        same_host = [estimate for _, estimate, key in all_estimates if key not in group]
        profile = HostProfile.of(same_path, same_host)
        if not profile.is_empty:
            yield _host(path, f"told-{number}", profile), group


def own_changes(run: MeasuredRun, path: MeasuredPath, host: HostEstimate, sockets: str) -> Iterator[Change]:
    """Yield the changes for one deviating run: the host that its log shows, and other settings of its kernel."""
    late = HostProfile(ExtraDelay.of([host.data]), ExtraDelay.of([host.ack]))
    name = fitted(f"{run.name}-{run.number}", "run")
    if not late.is_empty:
        yield Change(f"{name}-late", JITTER, f"the host, as this log tells: {late.text()}", late)
    if not is_tcp(run.scheme):
        return
    if host.buffer_packets is not None:
        buffer_host = HostProfile(buffer_packets=host.buffer_packets)
        yield Change(
            f"{name}-buffer", BUFFER, f"the sender's buffer, as this log tells: {buffer_host.text()}", buffer_host
        )
    other = UNLIMITED if sockets == LINUX else LINUX
    yield Change(f"{name}-sockets", BUFFER, f"{other} socket buffers", sockets=other)
    if not paces_itself(run.scheme):
        text = "no pacing by the kernel" if path.has_fq else "pacing by the kernel (`fq`)"
        yield Change(f"{name}-pacing", PACING, text, has_fq=not path.has_fq)
    if run.scheme.name in _STANDS_FOR:
        stands_for = _STANDS_FOR[run.scheme.name]
        yield Change(f"{name}-start", START, f"{stands_for} in place of {run.scheme.name}", scheme=stands_for)


@dataclass(frozen=True)
class PlannedExperiment:
    """A change on a path, before its runs are simulated.

    Attributes:
        used_for: Runs that may have this host; None if the change is no host.
        told_by: Number of runs that show this host.
    """

    change: Change
    plan: Plan
    used_for: Collection[Key] | None
    told_by: int = 0


@dataclass(frozen=True, eq=False)
class Trial:
    """An experiment, and the simulated runs that belong to each of its measured runs."""

    experiment: PlannedExperiment
    simulated_runs: Mapping[Key, SimulatedRuns]

    @cached_property
    def comparisons(self) -> Mapping[Key, Comparison]:
        """Comparison of each measured run, over all flows together."""
        return {run.key: compare(run, 0, self.simulated_runs[run.key]) for run in self.experiment.plan.runs}


def experiments_on(
    paths: Sequence[tuple[MeasuredSet, MeasuredPath]],
    exact: Mapping[Key, Comparison],
    estimates: Mapping[Key, HostEstimate],
    groups: Sequence[Collection[Key]],
    sockets: str,
    plan: Callable[..., Plan],
) -> Iterator[PlannedExperiment]:
    """Yield the experiments on each path with a deviating run. `exact` and `estimates` have the runs that count."""
    every = frozenset(key for group in groups for key in group)
    for data_set, path in paths:
        counted_runs = [run for run in path.runs if run.key in exact]
        off = [run for run in counted_runs if is_off(exact[run.key])]
        if not off:
            continue
        for run in off:
            for change in own_changes(run, path, estimates[run.key], sockets):
                yield PlannedExperiment(change, plan(data_set, path, change=change, only=[run]), None)
        host_estimates = [
            (other, estimates[run.key], run.key)
            for other_set, other in paths
            for run in other.runs
            if other_set.host == data_set.host and run.key in estimates
        ]
        for change, group in told_hosts(path, host_estimates, groups):
            told_by = sum(estimate_path is path and key not in group for estimate_path, _, key in host_estimates)
            if any(run.key in group for run in counted_runs):
                yield PlannedExperiment(change, plan(data_set, path, change=change, only=counted_runs), group, told_by)
        for change in tried_hosts(path):
            yield PlannedExperiment(change, plan(data_set, path, change=change, only=counted_runs), every)


def fitted_host(
    run: MeasuredRun,
    trials: Sequence[Trial],
    exact: Mapping[Key, Comparison],
    witnesses: Collection[Key],
) -> tuple[Trial, float] | None:
    """Return the host that best fits the other runs on the path, and its gain in log-likelihood over exact hosts.

    Return None if no host gains `LEAST_GAIN`. `witnesses` are the runs that may be compared; the run itself is not.
    """
    candidates: list[tuple[float, Trial]] = []
    for trial in trials:
        if run.key not in (trial.experiment.used_for or ()) or run.key not in trial.comparisons:
            continue
        comparisons = {
            key: comparison for key, comparison in trial.comparisons.items() if key != run.key and key in witnesses
        }
        gain = sum(likelihood(comparison) - likelihood(exact[key]) for key, comparison in comparisons.items())
        candidates.append((gain, trial))
    gain, best = max(candidates, key=lambda candidate: candidate[0], default=(0.0, None))
    return (best, gain) if best is not None and gain >= LEAST_GAIN else None
