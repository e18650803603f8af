"""The simulated outcomes of schemes over candidate paths, with one simulation for each candidate and scheme.

Runs of a scheme have equal seeds over every path, so that paths differ by their parameters and not by chance. The
errors of a calibrated path come from runs with seeds that no fit used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from dumbbell.base.errors import UserError
from dumbbell.core.paths import complete_transport
from dumbbell.experiment import Experiment
from dumbbell.experiment.specification import between_hosts
from dumbbell_calibrate.error import Outcome, Outcomes
from dumbbell_calibrate.journal import Candidate, Journal
from dumbbell_calibrate.search import derived_seed
from dumbbell_calibrate.target import PLACE, Target
from dumbbell_calibrate.workers import RunMetrics, Workers

if TYPE_CHECKING:
    from dumbbell.contract.specification import FlowSpec, PathSpec, RunSpec

JUDGED_RUNS = 10
"""Runs of each scheme that judge a path. In fewer runs chance hides the errors of the path."""

Runs: TypeAlias = "dict[str, list[RunSpec]]"
"""Run specs by scheme, without a path yet."""


def judged(candidate: Candidate) -> Candidate:
    """Return the candidate for runs with seeds that no fit used."""
    return {**candidate, "judged": True}


class Objective:
    """Simulates the schemes of a target over candidate paths."""

    def __init__(self, target: Target, workers: Workers, journal: Journal) -> None:
        self._workers = workers
        self._journal = journal
        self.simulated = 0
        """Number of simulated runs, without those in the journal."""
        self._experiment = experiment = target.experiment
        self._fitting = _runs(experiment)
        fresh = derived_seed(experiment.seed, "judged")
        self._judging = _runs(replace(experiment, seed=fresh, runs=JUDGED_RUNS))
        self._frame = experiment.paths[PLACE].spec()

    def outcomes(self, candidates: Sequence[Candidate], schemes: Sequence[str]) -> list[Outcomes]:
        """Return the outcomes of the schemes over each candidate.

        Raises:
            UserError: a process died, or the connection to the cluster is lost.
        """
        missing = [
            (index, scheme)
            for index, candidate in enumerate(candidates)
            for scheme in schemes
            if self._journal.find(candidate, scheme) is None
        ]
        texts = [
            self._specification(run, candidates[index])
            for index, scheme in missing
            for run in self._runs_of(candidates[index])[scheme]
        ]
        new_metrics = iter(self._workers.map(texts) if texts else [])
        self.simulated += len(texts)
        metrics_by_candidate: dict[int, dict[str, list[RunMetrics]]] = {}
        for index, scheme in missing:
            metrics_by_candidate.setdefault(index, {})[scheme] = [
                next(new_metrics) for _ in self._runs_of(candidates[index])[scheme]
            ]
        self._journal.add([(candidates[index], runs) for index, runs in metrics_by_candidate.items()])
        return [self._outcomes_of(candidate, schemes) for candidate in candidates]

    def _runs_of(self, candidate: Candidate) -> Runs:
        return self._judging if candidate.get("judged") else self._fitting

    def _specification(self, run: RunSpec, candidate: Candidate) -> RunSpec:
        hosts = candidate.get("hosts", {})
        experiment = self._experiment
        if "host_jitter_us" in hosts:
            experiment = replace(experiment, host_jitter_us=hosts["host_jitter_us"])
        path = cast("PathSpec", {**self._frame, "data": candidate["data"], "ack": candidate["ack"]})
        flows = [_with_buffer(flow, int(hosts.get("send_buffer_bytes", 0))) for flow in run["flows"]]
        return {**run, "path": between_hosts(path, experiment), "flows": flows}

    def _outcomes_of(self, candidate: Candidate, schemes: Sequence[str]) -> Outcomes:
        outcomes: dict[tuple[str, int], Outcome] = {}
        for scheme in schemes:
            runs = self._journal.find(candidate, scheme)
            if runs is None:
                raise UserError(f"{scheme}: an evaluation is gone")
            good = [run for run in runs if run is not None]
            expected_runs = len(self._runs_of(candidate)[scheme])
            if len(runs) != expected_runs or any(len(run) != len(good[0]) for run in good):
                raise UserError(f"{scheme}: the journal has other runs or flows than the experiment: remove it")
            for flow in range(len(good[0]) if good else 0):
                means = [_mean([run[flow][metric] for run in good]) for metric in range(3)]
                outcomes[scheme, flow] = Outcome(means[0] or 0.0, means[1], means[2])
        return outcomes


def _runs(experiment: Experiment) -> Runs:
    runs: Runs = {scheme: [] for scheme in experiment.labels}
    for run in experiment.all_runs():
        runs[run.scheme].append(experiment.specification(run))
    return runs


def _with_buffer(flow: FlowSpec, size: int) -> FlowSpec:
    """Return the flow with a send buffer of `size` bytes, if its transport may have such a buffer."""
    transport = flow.get("transport", {})
    if not size or not takes_buffer(transport):
        return flow
    config = complete_transport(transport)
    room = max(size, int(config["payload_bytes"]))
    if any(config["tcp_wmem"]):  # the buffer replaces Linux's buffers
        return {**flow, "transport": {**transport, "profile": "linux-like", "send_buffer_bytes": room}}
    return {**flow, "transport": {**transport, "send_buffer_bytes": room}}


def takes_buffer(transport: Mapping[str, object]) -> bool:
    """Return True if a send buffer may be calibrated: the transport is reliable, and the scheme sets no buffer.

    The default buffers of the profile `linux` are those of hosts without own settings.
    """
    config = complete_transport(transport)
    wmem = transport.get("tcp_wmem")
    sets_buffer = config["send_buffer_bytes"] or (isinstance(wmem, list | tuple) and any(wmem))
    return bool(config["reliable"]) and not sets_buffer


def _mean(values: Sequence[float | None]) -> float | None:
    known_values = [value for value in values if value is not None]
    return sum(known_values) / len(known_values) if known_values else None
