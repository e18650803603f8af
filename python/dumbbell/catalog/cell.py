"""Cells: what a grid makes of a path, and how the functions of its axes change one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from dumbbell.catalog.flows import FlowPlan
from dumbbell.catalog.path import PathModel
from dumbbell.errors import UserError

PACKET_BYTES = 1500
"""Full packets, in which queues of a number of bandwidth-delay products are counted."""

LINKS = ("link", "trace", "poisson", "cellular")


@dataclass(frozen=True)
class Cell:
    """One combination of a grid's axes: a path under the cell's own name, its flows, and the values that made it.

    Flows without a scheme are those of the scheme under test. `base` is the name of the path it was made of.
    """

    path: PathModel
    flows: tuple[FlowPlan, ...]
    axis_values: dict[str, Any] = field(default_factory=dict)
    base: str = ""

    def table(self) -> dict[str, Any]:
        """As written to an experiment file under `[cell.NAME]`."""
        table: dict[str, Any] = {"path": self.base, "parameters": self.axis_values}
        if self.flows:
            table["flow"] = [flow.table() for flow in self.flows]
        return table

    @property
    def bottleneck(self) -> dict[str, Any]:
        """The link of the data direction that can carry least."""
        return self.path.data[self._link()]

    @property
    def base_rtt_ms(self) -> float:
        """Sum of the path's constant delays, as the run starts."""
        return self.path.describe().base_rtt_ms

    @property
    def bdp_packets(self) -> float:
        """Rate of the bottleneck times base RTT, in full packets."""
        rate = self.rate_mbps
        if rate is None:
            raise UserError(
                f"{self.path.file}: path `{self.path.name}`: its bottleneck has no rate that could be varied"
            )
        return rate * 1e6 * self.base_rtt_ms / 1e3 / 8 / PACKET_BYTES

    @property
    def rate_mbps(self) -> float | None:
        """The rate that the bottleneck was given; None for a trace."""
        bottleneck = self.bottleneck
        rate = bottleneck.get("rate_mbps", bottleneck.get("mean_mbps"))
        return None if rate is None else float(rate)

    def _link(self) -> int:
        bottleneck = self.path.describe().bottleneck
        if bottleneck is None:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no link in the data direction to vary")
        return bottleneck.element

    def with_bottleneck(self, **changes: Any) -> "Cell":  # noqa: ANN401 (TOML values)
        """With other keys at the bottleneck."""
        data = list(self.path.data)
        data[self._link()] = self.bottleneck | changes
        return replace(self, path=replace(self.path, data=data))

    def with_element(self, element: dict[str, Any], direction: str = "data") -> "Cell":
        """With an element behind the links of a direction, before its delay."""
        elements = list(self.path.data if direction == "data" else self.path.ack)
        places = [index for index, other in enumerate(elements) if other.get("kind") in LINKS]
        elements.insert(places[-1] + 1 if places else 0, element)
        if direction == "data":
            return replace(self, path=replace(self.path, data=elements))
        return replace(self, path=replace(self.path, ack=elements))

    def with_rtt(self, rtt_ms: float) -> "Cell":
        """With all constant delays scaled so that they sum to `rtt_ms`."""
        factor = rtt_ms / self.base_rtt_ms
        return self._with_delays(lambda element: element | {"delay_ms": float(element["delay_ms"]) * factor})

    def with_delay_schedule(self, changes: list[tuple[float, float]]) -> "Cell":
        """With other base RTTs from given times on: pairs of seconds and milliseconds."""
        base = self.base_rtt_ms

        def scheduled(element: dict[str, Any]) -> dict[str, Any]:
            share = float(element["delay_ms"]) / base
            return element | {"schedule": [{"at_s": at_s, "delay_ms": rtt_ms * share} for at_s, rtt_ms in changes]}

        return self._with_delays(scheduled)

    def _with_delays(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> "Cell":
        if not self.base_rtt_ms:
            raise UserError(f"{self.path.file}: path `{self.path.name}`: has no delay that could be varied")
        data, ack = (
            [change(element) if "delay_ms" in element else element for element in elements]
            for elements in (self.path.data, self.path.ack)
        )
        return replace(self, path=replace(self.path, data=data, ack=ack))

    def with_ours(self, change: Callable[[FlowPlan], FlowPlan]) -> "Cell":
        """With the flows of the scheme under test changed."""
        return replace(self, flows=tuple(flow if flow.scheme else change(flow) for flow in self.flows))
