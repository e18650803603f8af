"""Runs over the path with schemes that exist: few small packets, a transfer, a constant rate."""

from copy import deepcopy
from typing import Any

from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.execution.check import check
from dumbbell.experiment import pin, resolve
from dumbbell.studies.pathfinding import probe_budget

TRANSFER = "cubic"
"""A transfer that sends more until something is lost."""
CONSTANT = "udp-cbr"
_MOST_BYTES = 10**12


def idle(seconds: float) -> dict[str, Any]:
    """Few small packets, both ways."""
    rate_mbps = probe_budget.IDLE_PER_S * probe_budget.IDLE_PAYLOAD_BYTES * 8e-6
    run = _constant(rate_mbps, seconds, probe_budget.IDLE_PAYLOAD_BYTES)
    run["flows"].append(deepcopy(run["flows"][0]) | {"reverse": True})
    return run


def transfer(seconds: float, reverse: bool, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """A transfer in one direction."""
    run = _specification(TRANSFER, seconds)
    run["flows"][0]["application"] = {"kind": "fixed", "bytes": most_bytes}
    return _way(run, reverse)


def flood(mbps: float, seconds: float, reverse: bool, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """A constant rate in one direction."""
    run = _constant(mbps, seconds, None)
    run["flows"][0]["application"]["bytes"] = most_bytes
    return _way(run, reverse)


def _constant(mbps: float, seconds: float, payload_bytes: int | None) -> dict[str, Any]:
    run = _specification(CONSTANT, seconds)
    flow = run["flows"][0]
    flow["application"] = {"kind": "constant", "rate_mbps": mbps}
    if payload_bytes is not None:
        flow["transport"] = flow["transport"] | {"payload_bytes": payload_bytes}
    return run


def _way(run: dict[str, Any], reverse: bool) -> dict[str, Any]:
    run["flows"][0]["reverse"] = reverse
    return run


def _specification(scheme: str, seconds: float) -> dict[str, Any]:
    """A run on a path that nobody knows yet."""
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
    run = deepcopy(experiment.specification(experiment.all_runs()[0]))
    return run | {"path": run["path"] | {"data": [], "ack": []}}
