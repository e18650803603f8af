"""What a controller costs: by itself, and beside another one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dumbbell import _core
from dumbbell.api.running import plugin_files, specification
from dumbbell.base.errors import UserError
from dumbbell.catalog.scheme import Scheme
from dumbbell.plugins import isolated

CostVerdict: TypeAlias = Literal["worse", "same", "better"]
CostUnit: TypeAlias = Literal["instructions", "ns"]
THRESHOLD = 0.1
"""Share of the baseline's cost by which a candidate may differ and count as the same."""
LEVEL = 0.95
LEAST = {"instructions": 20.0, "ns": 5.0}
"""Differences below this are no difference: a packet costs the transport itself some 100 ns."""
_RESOLUTION = {"instructions": 4.0, "ns": 1.0}
"""Cost of a controller that does nothing that can be measured."""


@dataclass(frozen=True)
class ControllerCost:
    """What a scheme's controller costs: the cheapest of 20 repetitions of all that it was told in a run of 20 s."""

    scheme: str
    ns_per_ack: float
    """All of its calls, spread over the ACKs, ns."""
    acks: int
    """ACKs of the run that was recorded: 100 Mbit/s, 40 ms, a little loss."""
    throughput_mbps: float
    """What it carried in that run, Mbit/s."""


@dataclass(frozen=True)
class BlockCosts:
    """What the controller of one scheme cost for each ACK in every block of repetitions."""

    scheme: str
    ns: tuple[float, ...]
    """Time of the processor, ns."""
    instructions: tuple[float, ...]
    """Instructions; none where the machine does not count them."""

    @property
    def ns_per_ack(self) -> float:
        """Return the cheapest block, ns."""
        return min(self.ns)

    @property
    def instructions_per_ack(self) -> float | None:
        """Return the cheapest block, instructions; None where the machine does not count them."""
        return min(self.instructions, default=None)

    def of(self, unit: CostUnit) -> tuple[float, ...]:
        """Return the cost of every block in a unit."""
        return self.instructions if unit == "instructions" else self.ns

    def least(self, unit: CostUnit) -> float:
        """Return the cost of the cheapest block in a unit that the machine counts."""
        return min(self.of(unit))


@dataclass(frozen=True)
class CostComparison:
    """The cost of a candidate's controller beside that of a baseline, both measured in turn."""

    candidate: BlockCosts
    baseline: BlockCosts
    unit: CostUnit
    """What the ratio is of: instructions where the machine counts them, which other work on it does not change."""
    ratio: float
    """Cost of the candidate over that of the baseline: the mean over the blocks."""
    low: float
    """Low end of the 95 % interval of the ratio."""
    high: float
    """High end of it."""
    threshold: float

    @property
    def difference(self) -> float:
        """Return what an ACK of the candidate costs more, in `unit`."""
        return self.candidate.least(self.unit) - self.baseline.least(self.unit)

    @property
    def verdict(self) -> CostVerdict:
        """Return `worse` or `better` if the whole interval lies beyond the threshold, else `same`."""
        if abs(self.difference) < LEAST[self.unit]:
            return "same"
        if self.low > 1.0 + self.threshold:
            return "worse"
        return "better" if self.high < 1.0 - self.threshold else "same"

    def __str__(self) -> str:
        """Return it in a sentence."""
        costs = [f"{side.least(self.unit):.0f}" for side in (self.candidate, self.baseline)]
        return (
            f"cost {self.verdict}: {self.candidate.scheme} takes {costs[0]} {self.unit} for an ACK, "
            f"{self.baseline.scheme} {costs[1]} (ratio {self.ratio:.2f}, {self.low:.2f} to {self.high:.2f}; "
            f"threshold {self.threshold:.0%})"
        )


def controller_cost(scheme: str | Scheme) -> ControllerCost:
    """Measure what a simulated scheme's controller costs for each ACK: built in, a library or a class.

    What it is told in a run is told to fresh instances again. It is time of the processor: beside busy programs caches
    are colder, and it comes out a little dearer.

    Raises:
        dumbbell.Error: it has no controller that is simulated, or does not do the same when it is told the same.
    """
    made = _specification(scheme)
    figures = isolated.cost(json.dumps(made), plugin_files(made) or ["dumbbell"])
    return ControllerCost(
        str(figures["scheme"]), float(figures["ns_per_ack"]), int(figures["acks"]), float(figures["throughput_mbps"])
    )


def cost_beside(candidate: str | Scheme, baseline: str | Scheme, *, threshold: float = THRESHOLD) -> CostComparison:
    """Measure what two simulated schemes' controllers cost for each ACK, in turn.

    Each is told again what it was told in a run of its own, in eight blocks of up to eight repetitions, which alternate
    with the other's; the cheapest of a block counts. What slows the machine slows both.

    Raises:
        dumbbell.Error: as of `controller_cost`, or a threshold that is not allowed.
    """
    if not 0.0 <= threshold <= 10.0:
        raise UserError(f"threshold = {threshold}: allowed is a number from 0 to 10")
    made = [_specification(scheme) for scheme in (candidate, baseline)]
    files = [file for each in made for file in plugin_files(each)]
    return compared(isolated.cost_beside([json.dumps(each) for each in made], files or ["dumbbell"]), threshold)


def compared(figures: Mapping[str, Mapping[str, Any]], threshold: float = THRESHOLD) -> CostComparison:
    """Return the comparison of what was measured."""
    candidate, baseline = (_costs(figures[side]) for side in ("candidate", "baseline"))
    counted = candidate.instructions and baseline.instructions
    unit: CostUnit = "instructions" if counted else "ns"
    least = _RESOLUTION[unit]
    logs = [
        math.log(max(one, least) / max(other, least))
        for one, other in zip(candidate.of(unit), baseline.of(unit), strict=True)
    ]
    mean = sum(logs) / len(logs)
    low, high = _core.confidence_interval(logs, LEVEL) or (mean, mean)
    return CostComparison(candidate, baseline, unit, math.exp(mean), math.exp(low), math.exp(high), threshold)


def _specification(scheme: str | Scheme) -> Mapping[str, Any]:
    return specification(scheme, duration=20.0, log="none", settings={"host_jitter_us": 0})


def _costs(figures: Mapping[str, Any]) -> BlockCosts:
    return BlockCosts(str(figures["scheme"]), tuple(figures["ns"]), tuple(figures["instructions"]))
