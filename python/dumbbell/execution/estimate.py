"""Estimates of the duration of runs, from the number of packets and the cost of a packet on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.progress import Piece
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.core.runs import simulate_in_memory
from dumbbell.experiment import Experiment, Run

if TYPE_CHECKING:
    from dumbbell.contract.specification import FlowSpec, RunSpec

FULL_PACKET_BITS = 12_000.0
UNLIMITED_MBPS = 100.0
"""Assumed rate of a path without a limit, Mbit/s."""

START_S = 0.4
"""Time until a process makes its first run, s."""

RUN_S = 0.02
"""Time of a simulated run without its packets, s: its files, made durable, and its rows in the database."""

PER_FLOW_SAMPLE_PACKETS = 2.0
PER_FLOW_PACKETS = 100.0
"""Cost of a flow's samples, and of the flow itself, in packets."""

LOGGED = {"none": 1.0, "packets": 1.7, "full": 5.0}
"""Cost factor of a packet by log."""

REAL_RUN_S = 0.7
"""Additional time of a run with real packets, s: namespaces, programs, and making records of its logs."""

NETWORK_RUN_S = 5.0
"""Additional time of a run between two machines, s: starting peer processes, greetings, path MTU discovery, and two
idle seconds for the clocks."""

_MEASURED_S = 4.0  # virtual time, 2,600 packets
_MEASURED_MBPS = 8.0


@dataclass(frozen=True)
class Cell:
    """The repetitions of a scheme or mix on a path. Each lasts `duration_s`, and takes about `seconds` to make."""

    experiment: str
    path: str
    scheme: str
    runs: int
    duration_s: float
    seconds: float


def cells(experiment: Experiment) -> list[Cell]:
    """Return the cells of an experiment, in the order of execution."""
    first = replace(experiment, runs=1).all_runs()
    return [
        Cell(experiment.name, run.path, run.scheme, experiment.runs, experiment.duration_s, piece.seconds)
        for run, piece in zip(first, pieces(experiment, first), strict=True)
    ]


def seconds_of(costs: Sequence[float], jobs: int) -> float:
    """Return the duration of runs with these costs on `jobs` processes, s."""
    return START_S + max(sum(costs) / min(jobs, len(costs)), max(costs)) if costs else 0.0


def pieces(experiment: Experiment, runs: Iterable[Run]) -> list[Piece]:
    """Return the runs with their expected costs. Repetitions cost the same; deviations are common to a scheme."""
    costs: dict[tuple[str, str], float] = {}
    run_pieces = []
    for run in runs:
        key = (run.path, run.scheme)
        if key not in costs:
            costs[key] = _cost_s(experiment, run)
        run_pieces.append(Piece(run.label, costs[key], run.scheme))
    return run_pieces


def _cost_s(experiment: Experiment, run: Run) -> float:
    capabilities = experiment.capabilities
    if capabilities.real_packets:
        return float(experiment.duration_s) + (NETWORK_RUN_S if capabilities.shared_link else REAL_RUN_S)
    specification = experiment.specification(run)
    per_packet: float = packet_s() * LOGGED.get(experiment.log, 1.0)
    return RUN_S + carried_packets(experiment.paths[run.path], specification) * per_packet + _fixed_s(specification)


def _fixed_s(specification: RunSpec) -> float:
    """Return the cost that is independent of packets, s: flows and their samples."""
    flows = len(specification["flows"])
    samples = flows * specification["duration_s"] / specification["sample_interval_s"]
    return float(flows * PER_FLOW_PACKETS + samples * PER_FLOW_SAMPLE_PACKETS) * packet_s()


def carried_packets(path: PathModel, specification: RunSpec) -> float:
    """Return the maximum number of full packets that the path carries in a run."""
    duration_s = float(specification["duration_s"])
    capacity_mbit = _capacity_mbps(path, duration_s) * duration_s
    demand_mbit = sum(_demand_mbit(flow, duration_s) for flow in specification["flows"])
    return float(min(capacity_mbit, demand_mbit)) * 1e6 / FULL_PACKET_BITS


def _capacity_mbps(path: PathModel, duration_s: float) -> float:
    """Return the mean capacity over a run, Mbit/s."""
    description = path.describe()
    if description.rates_mbps is not None:
        times, rates = description.rates_mbps
        ends = [*times[1:], duration_s]
        lasting = [max(min(end, duration_s) - start, 0.0) for start, end in zip(times, ends, strict=True)]
        return sum(rate * length for rate, length in zip(rates, lasting, strict=True)) / duration_s
    rate = None if description.bottleneck is None else description.bottleneck.rate_mbps
    return UNLIMITED_MBPS if rate is None else rate


def _demand_mbit(flow: FlowSpec, duration_s: float) -> float:
    """Return the data that the application of a flow sends in its lifetime, Mbit.

    Infinite if only the path limits it.
    """
    application: Mapping[str, Any] = flow.get("application", {})  # of any kind
    stop_s = flow.get("stop_s")
    lasts_s = max((duration_s if stop_s is None else min(stop_s, duration_s)) - flow.get("start_s", 0.0), 0.0)
    sizes = [application[key] for key in ("bytes", "most_bytes") if application.get(key)]
    rates = [application[key] for key in ("rate_mbps", "max_rate_mbps") if application.get(key)]
    if rates:
        return float(min(rates) * lasts_s)
    if sizes:
        again_s = float(application.get("idle_ms", 0.0)) / 1e3
        times = lasts_s / again_s if again_s else 1.0
        return float(max(sizes)) * 8e-6 * max(times, 1.0)
    return float("inf") if lasts_s else 0.0


@cache
def packet_s(clock: Clock = SYSTEM_CLOCK) -> float:
    """Return the CPU time of a simulated packet on this machine, s, measured once: a short run of Reno in memory."""
    link: Element = {"kind": "link", "rate_mbps": _MEASURED_MBPS, "queue": {"kind": "droptail", "packets": 100}}
    delay: Element = {"kind": "delay", "delay_ms": 20.0}
    path = PathModel(name="measured", title="", data=[link, delay], ack=[delay])
    specification: RunSpec = {
        "seed": 1,
        "duration_s": _MEASURED_S,
        "warmup_s": 0.0,
        "sample_interval_s": 1.0,
        "log": "none",
        "path": path.spec(),
        "flows": [{"scheme": "reno", "controller": "reno"}],
    }
    packets: float = carried_packets(path, specification)
    times: list[float] = []
    for _ in range(3):  # the first time is slower
        started_s = clock.thread_time()
        simulate_in_memory(specification)
        times.append(clock.thread_time() - started_s)
    return sum(times[1:]) / len(times[1:]) / packets
