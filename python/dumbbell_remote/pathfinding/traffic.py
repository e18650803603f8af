"""Run specs of path probes with catalog schemes: few small packets, a transfer, a constant rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.execution.check import check
from dumbbell.experiment import pin, resolve
from dumbbell_remote.pathfinding import probe_budget

if TYPE_CHECKING:
    from dumbbell.contract.specification import ApplicationSpec, ConstantApplication, FlowSpec, RunSpec, TransportSpec

TRANSFER = "cubic"
"""Scheme of a transfer, which increases its rate until a loss."""
CONSTANT = "udp-cbr"
_MOST_BYTES = 10**12


def idle(seconds: float) -> RunSpec:
    """Return a run of few small packets, both ways."""
    rate_mbps = probe_budget.IDLE_PER_S * probe_budget.IDLE_PAYLOAD_BYTES * 8e-6
    run = _with(_specification(CONSTANT, seconds), {"kind": "constant", "rate_mbps": rate_mbps}, reverse=False)
    (flow,) = run["flows"]
    payload: TransportSpec = {**flow.get("transport", {}), "payload_bytes": probe_budget.IDLE_PAYLOAD_BYTES}
    data_flow: FlowSpec = {**flow, "transport": payload}
    return {**run, "flows": [data_flow, {**data_flow, "reverse": True}]}


def transfer(seconds: float, reverse: bool, most_bytes: int = _MOST_BYTES) -> RunSpec:
    """Return a run of a transfer in one direction."""
    return _with(_specification(TRANSFER, seconds), {"kind": "fixed", "bytes": most_bytes}, reverse)


def flood(mbps: float, seconds: float, reverse: bool, most_bytes: int = _MOST_BYTES) -> RunSpec:
    """Return a run at a constant rate in one direction."""
    application: ConstantApplication = {"kind": "constant", "rate_mbps": mbps, "bytes": most_bytes}
    return _with(_specification(CONSTANT, seconds), application, reverse)


def _with(run: RunSpec, application: ApplicationSpec, reverse: bool) -> RunSpec:
    """Return the run with this application of its flow, in this direction."""
    (flow,) = run["flows"]
    return {**run, "flows": [{**flow, "application": application, "reverse": reverse}]}


def _specification(scheme: str, seconds: float) -> RunSpec:
    """Return a run spec over an unknown path."""
    element = [{"kind": "delay", "delay_ms": 1.0}]
    path = PathModel(name="unknown", title="", data=element, ack=element)
    experiment = pin(
        resolve(
            ExperimentFile(
                name="run",
                schemes=[scheme],
                paths=[path.name],
                own_paths={path.name: path},
                duration_s=seconds,
                log="packets",
            )
        )
    )
    check(experiment)
    run = experiment.specification(experiment.all_runs()[0])
    return {**run, "path": {**run["path"], "data": [], "ack": []}}
