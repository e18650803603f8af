"""Cells: what a grid makes of a path, and how the functions of its axes change one."""

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
    """One combination of a grid's axes: a path under the cell's own name, its flows, and the values that made it.

    Flows without a scheme are those of the scheme under test. `base` is the name of the path it was made of.
    """

    path: PathModel
    flows: tuple[FlowPlan, ...]
    axis_values: Mapping[str, object] = field(default_factory=dict)
    base: str = ""

    def table(self) -> dict[str, object]:
        """As written to an experiment file under `[cell.NAME]`."""
        table: dict[str, object] = {"path": self.base, "axes": self.axis_values}
        if self.flows:
            table["flow"] = [flow.table() for flow in self.flows]
        return table

    @property
    def coordinates(self) -> dict[str, object]:
        """The values that made the cell, by axis; the axis `path` has the name of the path that was varied."""
        return {"path": self.base, **self.axis_values}

    @property
    def bottleneck(self) -> Element:
        """The link of the data direction that can carry least."""
        return self.path.data[self._link().element]

    @property
    def base_rtt_ms(self) -> float:
        """Sum of the path's constant delays, as the run starts."""
        return self.path.describe().base_rtt_ms

    @property
    def rate_mbps(self) -> float:
        """What the bottleneck can carry on average, as the run starts."""
        rate = self._link().rate_mbps
        assert rate is not None, "what has no limit is no bottleneck"
        return rate

    @property
    def bdp_packets(self) -> float:
        """Rate of the bottleneck times base RTT, in full packets."""
        return self.rate_mbps * 1e6 * self.base_rtt_ms / 1e3 / 8 / PACKET_BYTES

    def _link(self) -> Link:
        bottleneck = self.path.describe().bottleneck
        if bottleneck is None:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no link in the data direction to vary")
        return bottleneck

    def with_bottleneck(self, **changes: Any) -> "Cell":  # noqa: ANN401 (TOML values)
        """With other keys at the bottleneck."""
        data = list(self.path.data)
        data[self._link().element] = self.bottleneck | changes
        return replace(self, path=replace(self.path, data=data))

    def with_element(self, element: Element, direction: str = "data", before: bool = False) -> "Cell":
        """With an element behind the links of a direction, before its delay; with `before` in front of all."""
        elements = list(self.path.data if direction == "data" else self.path.ack)
        links = [link.element for link in self.path.describe().links if link.direction == direction]
        elements.insert(0 if before else max(links, default=-1) + 1, element)
        if direction == "data":
            return replace(self, path=replace(self.path, data=elements))
        return replace(self, path=replace(self.path, ack=elements))

    def with_rtt(self, rtt_ms: float) -> "Cell":
        """With all constant delays scaled so that they sum to `rtt_ms`."""
        base = self.base_rtt_ms
        return self.with_delays(lambda delay: {"delay_ms": delay.delay_ms * (rtt_ms / base)})

    def with_delay_schedule(self, changes: list[tuple[float, float]]) -> "Cell":
        """With other base RTTs from given times on: pairs of seconds and milliseconds."""
        base = self.base_rtt_ms

        def scheduled(delay: Delay) -> Element:
            share = delay.delay_ms / base
            return {"schedule": [{"at_s": at_s, "delay_ms": rtt_ms * share} for at_s, rtt_ms in changes]}

        return self.with_delays(scheduled)

    def with_delays(self, change: Callable[[Delay], Element]) -> "Cell":
        """With the changes of keys at the elements that make the base RTT."""
        delays = self.path.describe().delays
        if not delays:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no delay that could be varied")
        data, ack = list(self.path.data), list(self.path.ack)
        for delay in delays:
            elements = data if delay.direction == "data" else ack
            elements[delay.element] = elements[delay.element] | change(delay)
        return replace(self, path=replace(self.path, data=data, ack=ack))

    def with_ours(self, change: Callable[[FlowPlan], FlowPlan]) -> "Cell":
        """With the flows of the scheme under test changed."""
        made: dict[int, FlowPlan] = {}  # one plan may stand there thousands of times
        for flow in self.flows:
            if not flow.scheme and id(flow) not in made:
                made[id(flow)] = change(flow)
        return replace(self, flows=tuple(flow if flow.scheme else made[id(flow)] for flow in self.flows))
