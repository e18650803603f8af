"""The metrics of a measured run that are compared with simulated runs, by where it was seen from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import RunStats

RATE, DELAY, LOSS = "throughput", "delay", "loss"
"""What is compared, whichever metrics tell it."""
MEASURES = (RATE, DELAY, LOSS)


@dataclass(frozen=True)
class Viewpoint:
    """The metric of each measure, and what people call the delay."""

    metrics: Mapping[str, str]
    delay: str
    sees_sender: bool = False
    """Whether simulated runs have to be seen from the sender too: their packet logs know both ends."""

    def of(self, statistics: RunStats, flow: int) -> dict[str, float | None]:
        """Return each measure of one flow in the statistics of a run, or of all flows (0); None if it is not told.

        Of a single flow, all flows have what the flow has.
        """
        flows = statistics["flows"]
        tables: list[Mapping[str, object]] = [each for each in flows if each["flow"] == flow]
        if not flow:
            tables = [statistics["network"], *(flows if len(flows) == 1 else ())]
        found: dict[str, float | None] = {}
        for measure in MEASURES:
            name = self.metrics.get(measure, "")
            found[measure] = next((value for each in tables if (value := value_of(each, name)) is not None), None)
        return found


BOTH_ENDS = Viewpoint({RATE: "throughput_mbps", DELAY: "delay_p95_ms", LOSS: "loss_rate"}, "p95")
"""One-way delays, by Pantheon's convention."""
SENDER = Viewpoint(
    {RATE: "throughput_mbps", DELAY: "rtt_p95_ms", LOSS: "packet_loss_rate"}, "p95 of RTT", sees_sender=True
)
"""Packets and what acknowledged them."""
RECEIVER = Viewpoint({RATE: "throughput_mbps"}, "p95")
"""Arrivals alone."""
TOTALS = Viewpoint({RATE: "goodput_mbps", DELAY: "mean_srtt_ms"}, "mean RTT")
"""Counters in intervals, without packets."""


def viewpoint_of(statistics: RunTable) -> Viewpoint | None:
    """Return from where a run was seen that another tool than Pantheon recorded; None if it has no rate."""
    for view, needed in ((BOTH_ENDS, DELAY), (SENDER, DELAY), (RECEIVER, RATE), (TOTALS, RATE)):
        numbers = statistics["flows"][0]["flow"] if statistics["flows"] else 0
        found = view.of(statistics, numbers)
        if found[needed] is not None and found[RATE]:
            return view
    return None
