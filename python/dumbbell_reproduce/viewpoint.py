"""The metrics of a measured run that are compared with simulated runs, by the place of its recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import RunStats

RATE, DELAY, LOSS = "throughput", "delay", "loss"
"""MeasureComparison quantities, independent of the metric that contains them."""
MEASURES = (RATE, DELAY, LOSS)


@dataclass(frozen=True)
class Viewpoint:
    """The metric for each measure, and the name of the delay for people."""

    metrics: Mapping[str, str]
    delay: str
    sees_sender: bool = False
    """True if simulated runs have to be exported as the sender sees them, because their packet logs know both ends."""

    def of(self, statistics: RunStats, flow: int) -> dict[str, float | None]:
        """Return the measures of one flow in a run's statistics, or of all flows (0). None marks missing measures.

        If a run has one flow, the values of all flows are those of the flow.
        """
        flows = statistics["flows"]
        tables: list[Mapping[str, object]] = [flow_table for flow_table in flows if flow_table["flow"] == flow]
        if not flow:
            tables = [statistics["network"], *(flows if len(flows) == 1 else ())]
        values: dict[str, float | None] = {}
        for measure in MEASURES:
            name = self.metrics.get(measure, "")
            values[measure] = next((value for table in tables if (value := value_of(table, name)) is not None), None)
        return values


BOTH_ENDS = Viewpoint({RATE: "throughput_mbps", DELAY: "delay_p95_ms", LOSS: "loss_rate"}, "p95")
"""One-way delays, by Pantheon's convention."""
SENDER = Viewpoint(
    {RATE: "throughput_mbps", DELAY: "rtt_p95_ms", LOSS: "packet_loss_rate"}, "p95 of RTT", sees_sender=True
)
"""Seen from the sender: packets and their acknowledgements."""
RECEIVER = Viewpoint({RATE: "throughput_mbps"}, "p95")
"""Seen from the receiver: arrivals alone."""
TOTALS = Viewpoint({RATE: "goodput_mbps", DELAY: "mean_srtt_ms"}, "mean RTT")
"""Counters in intervals, without packets."""


def viewpoint_of(statistics: RunTable) -> Viewpoint | None:
    """Return the viewpoint of a run that another tool than Pantheon recorded; None if it has no rate."""
    for view, needed_measure in ((BOTH_ENDS, DELAY), (SENDER, DELAY), (RECEIVER, RATE), (TOTALS, RATE)):
        numbers = statistics["flows"][0]["flow"] if statistics["flows"] else 0
        values = view.of(statistics, numbers)
        if values[needed_measure] is not None and values[RATE]:
            return view
    return None
