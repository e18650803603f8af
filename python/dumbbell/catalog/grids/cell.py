"""Cells of a grid: a varied path with its flows, and the changes that axes make."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.catalog.description import Delay, Link
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.queue_lengths import PACKET_BYTES


@dataclass(frozen=True)
class Cell:
    """A combination of a grid's axes: a path with the cell's name, its flows, and the values of the axes.

    Flows without a scheme are those of the scheme under test. `base` is the name of the original path.
    """

    path: PathModel
    flows: tuple[FlowPlan, ...]
    axis_values: Mapping[str, object] = field(default_factory=dict)
    base: str = ""

    def table(self) -> dict[str, object]:
        """Return the table `[cell.NAME]` of an experiment file."""
        table: dict[str, object] = {"path": self.base, "axes": self.axis_values}
        if self.flows:
            table["flow"] = [flow.table() for flow in self.flows]
        return table

    @property
    def coordinates(self) -> dict[str, object]:
        """Values of the axes by name; the axis `path` has the name of the original path."""
        return {"path": self.base, **self.axis_values}

    @property
    def bottleneck(self) -> Element:
        """Link of the data direction with the least capacity."""
        return self.path.data[self._link().element]

    @property
    def base_rtt_ms(self) -> float:
        """Sum of the path's constant delays at the start of the run, ms."""
        return self.path.describe().base_rtt_ms

    @property
    def rate_mbps(self) -> float:
        """Average capacity of the bottleneck at the start of the run, Mbit/s."""
        rate = self._link().rate_mbps
        assert rate is not None, "what has no limit is no bottleneck"
        return rate

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product of bottleneck rate and base RTT, full packets."""
        return self.rate_mbps * 1e6 * self.base_rtt_ms / 1e3 / 8 / PACKET_BYTES

    def _link(self) -> Link:
        bottleneck = self.path.describe().bottleneck
        if bottleneck is None:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no link in the data direction to vary")
        return bottleneck

    def with_bottleneck(self, **changes: Any) -> "Cell":  # noqa: ANN401 (TOML values)
        """Return the cell with changed keys of the bottleneck."""
        data = list(self.path.data)
        data[self._link().element] = self.bottleneck | changes
        return replace(self, path=replace(self.path, data=data))

    def with_element(self, element: Element, direction: str = "data", before: bool = False) -> "Cell":
        """Return the cell with an element after the links of a direction, or with `before` in front of all elements."""
        elements = list(self.path.data if direction == "data" else self.path.ack)
        links = [link.element for link in self.path.describe().links if link.direction == direction]
        elements.insert(0 if before else max(links, default=-1) + 1, element)
        if direction == "data":
            return replace(self, path=replace(self.path, data=elements))
        return replace(self, path=replace(self.path, ack=elements))

    def with_rtt(self, rtt_ms: float) -> "Cell":
        """Return the cell with all constant delays scaled to the sum `rtt_ms`."""
        base = self.base_rtt_ms
        return self.with_delays(lambda delay: {"delay_ms": delay.delay_ms * (rtt_ms / base)})

    def with_delay_schedule(self, changes: list[tuple[float, float]]) -> "Cell":
        """Return the cell with a schedule of base RTTs: pairs of time (s) and RTT (ms)."""
        base = self.base_rtt_ms

        def scheduled(delay: Delay) -> Element:
            share = delay.delay_ms / base
            return {"schedule": [{"at_s": at_s, "delay_ms": rtt_ms * share} for at_s, rtt_ms in changes]}

        return self.with_delays(scheduled)

    def with_delays(self, change: Callable[[Delay], Element]) -> "Cell":
        """Return the cell with changed keys of the elements that make the base RTT."""
        delays = self.path.describe().delays
        if not delays:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no delay that could be varied")
        data, ack = list(self.path.data), list(self.path.ack)
        for delay in delays:
            elements = data if delay.direction == "data" else ack
            elements[delay.element] = elements[delay.element] | change(delay)
        return replace(self, path=replace(self.path, data=data, ack=ack))

    def with_ours(self, change: Callable[[FlowPlan], FlowPlan]) -> "Cell":
        """Return the cell with changed flows of the scheme under test."""
        changed_flows: dict[int, FlowPlan] = {}  # one plan may occur thousands of times
        for flow in self.flows:
            if not flow.scheme and id(flow) not in changed_flows:
                changed_flows[id(flow)] = change(flow)
        return replace(self, flows=tuple(flow if flow.scheme else changed_flows[id(flow)] for flow in self.flows))
