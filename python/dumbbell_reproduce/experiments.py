"""Experiments: runs that are off are simulated again with one thing changed, which may explain them.

Hosts are tried too. A run has the host that fits the other runs on its path best, by their likelihood, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dumbbell.base.names import fitted
from dumbbell_reproduce.causes import BUFFER, JITTER, PACING, START
from dumbbell_reproduce.host_delays import HostEstimate, HostProfile, Late
from dumbbell_reproduce.kernel_tcp import LINUX, UNLIMITED, is_tcp, paces_itself
from dumbbell_reproduce.measured_path import MeasuredPath
from dumbbell_reproduce.measured_set import Key, MeasuredRun, MeasuredSet
from dumbbell_reproduce.score import Comparison, compare, is_off, likelihood
from dumbbell_reproduce.simulated import Change, Plan, Simulated

LEAST_GAIN = 3.0
"""Log-likelihood that a host has to gain over exact hosts: of a chance of 1 in 20."""
_TYPICAL_MS = 0.8
"""Median lateness of the hosts of public logs in one direction (docs/how-to/reproduce.md)."""
_STEADY_MS = 0.1
WAKES_MS = (1.0, 2.0, 5.0, 10.0)
"""Times between two wake-ups of the hosts that are tried."""
_STANDS_FOR = {"cubic": "cubic-linux"}
"""Schemes of the kernel that start otherwise than the ones that are simulated."""


def tried_hosts(path: MeasuredPath) -> Iterator[Change]:
    """Yield hosts that are tried on each path with a run that is off."""
    late = Late(_TYPICAL_MS, _STEADY_MS)
    yield _host(path, "late", HostProfile(late, late))
    for wakes_ms in WAKES_MS:
        yield _host(path, f"wakes-{wakes_ms:g}", HostProfile(wakes_ms=wakes_ms))


def _host(path: MeasuredPath, name: str, profile: HostProfile) -> Change:
    whose = "the host" if path.has_link_log else "the host or the link"
    return Change(name, JITTER if profile.is_late else BUFFER, f"{whose}: {profile.text()}", profile)


def told_hosts(
    path: MeasuredPath, estimates: Iterable[tuple[MeasuredPath, HostEstimate, Key]], groups: Sequence[Collection[Key]]
) -> Iterator[tuple[Change, Collection[Key]]]:
    """Yield the hosts that some runs of `estimates` tell, each with the group of runs that do not tell the host."""
    known = list(estimates)
    for number, group in enumerate(groups, 1):
        same_path = [each for of, each, key in known if of is path and key not in group]
        same_host = [each for _, each, key in known if key not in group]
        profile = HostProfile.of(same_path, same_host)
        if not profile.is_empty:
            yield _host(path, f"told-{number}", profile), group


def own_changes(run: MeasuredRun, path: MeasuredPath, told: HostEstimate, sockets: str) -> Iterator[Change]:
    """Yield what is changed for one run that is off: what its log tells of its host, and how its kernel was set up."""
    late = HostProfile(Late.of([told.data]), Late.of([told.ack]))
    name = fitted(f"{run.name}-{run.number}", "run")
    if not late.is_empty:
        yield Change(f"{name}-late", JITTER, f"the host, as this log tells: {late.text()}", late)
    if not is_tcp(run.scheme):
        return
    if told.buffer_packets is not None:
        held = HostProfile(buffer_packets=told.buffer_packets)
        yield Change(f"{name}-buffer", BUFFER, f"the sender's buffer, as this log tells: {held.text()}", held)
    other = UNLIMITED if sockets == LINUX else LINUX
    yield Change(f"{name}-sockets", BUFFER, f"{other} socket buffers", sockets=other)
    if not paces_itself(run.scheme):
        text = "no pacing by the kernel" if path.has_fq else "pacing by the kernel (`fq`)"
        yield Change(f"{name}-pacing", PACING, text, has_fq=not path.has_fq)
    if run.scheme.name in _STANDS_FOR:
        stands_for = _STANDS_FOR[run.scheme.name]
        yield Change(f"{name}-start", START, f"{stands_for} in place of {run.scheme.name}", scheme=stands_for)


@dataclass(frozen=True)
class Planned:
    """A change on a path, before its runs are simulated.

    Attributes:
        used_for: Runs that may have this host; None of what is no host.
        told_by: Number of runs that told this host.
    """

    change: Change
    plan: Plan
    used_for: Collection[Key] | None
    told_by: int = 0


@dataclass(frozen=True, eq=False)
class Trial:
    """An experiment, and the simulated runs beside each of its measured runs."""

    planned: Planned
    found: Mapping[Key, Simulated]

    @cached_property
    def comparisons(self) -> Mapping[Key, Comparison]:
        """The comparison of each measured run, of all flows together."""
        return {run.key: compare(run, 0, self.found[run.key]) for run in self.planned.plan.runs}


def experiments_on(
    paths: Sequence[tuple[MeasuredSet, MeasuredPath]],
    exact: Mapping[Key, Comparison],
    estimates: Mapping[Key, HostEstimate],
    groups: Sequence[Collection[Key]],
    sockets: str,
    plan: Callable[..., Plan],
) -> Iterator[Planned]:
    """Yield the experiments on each path with a run that is off. `exact` and `estimates` have the runs that count."""
    every = frozenset(key for group in groups for key in group)
    for measured, path in paths:
        counted = [run for run in path.runs if run.key in exact]
        off = [run for run in counted if is_off(exact[run.key])]
        if not off:
            continue
        for run in off:
            for change in own_changes(run, path, estimates[run.key], sockets):
                yield Planned(change, plan(measured, path, change=change, only=[run]), None)
        known = [
            (other, estimates[run.key], run.key)
            for of, other in paths
            for run in other.runs
            if of.host == measured.host and run.key in estimates
        ]
        for change, group in told_hosts(path, known, groups):
            told_by = sum(of is path and key not in group for of, _, key in known)
            if any(run.key in group for run in counted):
                yield Planned(change, plan(measured, path, change=change, only=counted), group, told_by)
        for change in tried_hosts(path):
            yield Planned(change, plan(measured, path, change=change, only=counted), every)


def fitted_host(
    run: MeasuredRun,
    trials: Sequence[Trial],
    exact: Mapping[Key, Comparison],
    witnesses: Collection[Key],
) -> tuple[Trial, float] | None:
    """Return the host that fits the other runs on a run's path best, and the log-likelihood gained over exact hosts.

    None if no host gains `LEAST_GAIN`. `witnesses` are the runs that may be asked; the run itself is not.
    """
    found: list[tuple[float, Trial]] = []
    for trial in trials:
        if run.key not in (trial.planned.used_for or ()) or run.key not in trial.comparisons:
            continue
        others = {key: each for key, each in trial.comparisons.items() if key != run.key and key in witnesses}
        gain = sum(likelihood(each) - likelihood(exact[key]) for key, each in others.items())
        found.append((gain, trial))
    gain, best = max(found, key=lambda each: each[0], default=(0.0, None))
    return (best, gain) if best is not None and gain >= LEAST_GAIN else None
