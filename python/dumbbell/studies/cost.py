"""Cost of a controller, absolute or compared with another controller."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dumbbell import core
from dumbbell.api.running import plugin_files, specification
from dumbbell.base.errors import UserError
from dumbbell.catalog.scheme import Scheme
from dumbbell.contract.controllers import BlockFigures, ComparedFigures
from dumbbell.plugins import isolated

CostVerdict: TypeAlias = Literal["worse", "same", "better"]
CostUnit: TypeAlias = Literal["instructions", "ns"]
THRESHOLD = 0.1
"""Share of the baseline's cost by which a candidate may differ and count as the same."""
LEVEL = 0.95
LEAST = {"instructions": 20.0, "ns": 5.0}
"""Least differences that count: a packet costs the transport itself some 100 ns."""
_RESOLUTION = {"instructions": 4.0, "ns": 1.0}
"""Cost of a controller whose work is too small to measure."""


@dataclass(frozen=True)
class ControllerCost:
    """Cost of a scheme's controller: the cheapest of 20 repetitions of all its calls in a run of 20 s."""

    scheme: str
    ns_per_ack: float
    """Time of all calls, spread over the ACKs, ns."""
    acks: int
    """ACKs of the recorded run: 100 Mbit/s, 40 ms, a little loss."""
    throughput_mbps: float
    """Throughput of the controller in that run, Mbit/s."""


@dataclass(frozen=True)
class BlockCosts:
    """Cost of the controller of one scheme for each ACK, in every block of repetitions."""

    scheme: str
    ns: tuple[float, ...]
    """CPU time, ns."""
    instructions: tuple[float, ...]
    """Instructions; empty if the machine does not count them."""

    @property
    def ns_per_ack(self) -> float:
        """Return the cost in the cheapest block, ns."""
        return min(self.ns)

    @property
    def instructions_per_ack(self) -> float | None:
        """Return the instructions of the cheapest block; None if the machine does not count them."""
        return min(self.instructions, default=None)

    def of(self, unit: CostUnit) -> tuple[float, ...]:
        """Return the cost of every block in a unit."""
        return self.instructions if unit == "instructions" else self.ns

    def least(self, unit: CostUnit) -> float:
        """Return the cost of the cheapest block in a unit that the machine counts."""
        return min(self.of(unit))


@dataclass(frozen=True)
class CostComparison:
    """Cost of a candidate's controller beside that of a baseline, measured in turn."""

    candidate: BlockCosts
    baseline: BlockCosts
    unit: CostUnit
    """Unit of the ratio: instructions if the machine counts them, since other work does not change these."""
    ratio: float
    """Cost of the candidate over that of the baseline: the mean over the blocks."""
    low: float
    """Low end of the 95 % interval of the ratio."""
    high: float
    """High end of the 95 % interval of the ratio."""
    threshold: float

    @property
    def difference(self) -> float:
        """Return the additional cost of the candidate for an ACK, in `unit`."""
        return self.candidate.least(self.unit) - self.baseline.least(self.unit)

    @property
    def verdict(self) -> CostVerdict:
        """Return `worse` or `better` if the whole interval lies beyond the threshold, otherwise `same`."""
        if abs(self.difference) < LEAST[self.unit]:
            return "same"
        if self.low > 1.0 + self.threshold:
            return "worse"
        return "better" if self.high < 1.0 - self.threshold else "same"

    def __str__(self) -> str:
        """Return the comparison in a sentence."""
        costs = [f"{side.least(self.unit):.0f}" for side in (self.candidate, self.baseline)]
        return (
            f"cost {self.verdict}: {self.candidate.scheme} takes {costs[0]} {self.unit} for an ACK, "
            f"{self.baseline.scheme} {costs[1]} (ratio {self.ratio:.2f}, {self.low:.2f} to {self.high:.2f}; "
            f"threshold {self.threshold:.0%})"
        )


def controller_cost(scheme: str | Scheme) -> ControllerCost:
    """Measure the cost of a simulated scheme's controller (built in, a library or a class) for each ACK.

    All its calls in a run are made again with fresh instances. The cost is CPU time: beside busy programs caches are
    colder, and it is a little higher.

    Raises:
        dumbbell.Error: The scheme has no simulated controller, or its controller is not deterministic.
    """
    run_spec = _specification(scheme)
    figures = isolated.cost(run_spec, plugin_files(run_spec) or ["dumbbell"])
    return ControllerCost(figures["scheme"], figures["ns_per_ack"], figures["acks"], figures["throughput_mbps"])


def cost_beside(candidate: str | Scheme, baseline: str | Scheme, *, threshold: float = THRESHOLD) -> CostComparison:
    """Measure the cost of two simulated schemes' controllers for each ACK, in turn.

    The calls of each controller in a run of its own are made again, in eight blocks of up to eight repetitions. The
    blocks of both alternate, and the cheapest repetition of a block counts. A slow machine slows both.

    Raises:
        dumbbell.Error: `controller_cost` would refuse a scheme, or the threshold is not allowed.
    """
    if not 0.0 <= threshold <= 10.0:
        raise UserError(f"threshold = {threshold}: allowed is a number from 0 to 10")
    run_specs = [_specification(scheme) for scheme in (candidate, baseline)]
    files = [file for spec in run_specs for file in plugin_files(spec)]
    return compared(isolated.cost_beside(run_specs, files or ["dumbbell"]), threshold)


def compared(figures: ComparedFigures, threshold: float = THRESHOLD) -> CostComparison:
    """Return the comparison of measured costs."""
    candidate, baseline = _costs(figures["candidate"]), _costs(figures["baseline"])
    has_instructions = candidate.instructions and baseline.instructions
    unit: CostUnit = "instructions" if has_instructions else "ns"
    least = _RESOLUTION[unit]
    logs = [
        math.log(max(candidate_cost, least) / max(baseline_cost, least))
        for candidate_cost, baseline_cost in zip(candidate.of(unit), baseline.of(unit), strict=True)
    ]
    mean = sum(logs) / len(logs)
    low, high = core.confidence_interval(logs, LEVEL) or (mean, mean)
    return CostComparison(candidate, baseline, unit, math.exp(mean), math.exp(low), math.exp(high), threshold)


def _specification(scheme: str | Scheme) -> Mapping[str, object]:
    return specification(scheme, duration=20.0, log="none", settings={"host_jitter_us": 0})


def _costs(figures: BlockFigures) -> BlockCosts:
    return BlockCosts(figures["scheme"], tuple(figures["ns"]), tuple(figures["instructions"]))
