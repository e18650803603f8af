"""Size of a grid's cells, computed before the cells exist: a short table can request any number of flows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from dumbbell.catalog.open_tables import Element

MOST_CHANGES = 100_000
"""Maximum number of scheduled changes of an element from one value of an axis."""
MOST_PARTS = 2_000_000
"""Maximum number of flows, elements and scheduled changes of all cells together, 20 for each of the most cells."""


@dataclass(frozen=True)
class Size:
    """Size of a cell: flows under test, other flows, elements of the path, and scheduled changes."""

    tested_flows: int
    other_flows: int
    elements: int
    changes: int
    delays: int
    """Number of elements that can have a part in the base RTT."""
    links: int
    """Number of elements of the ACK direction with a rate."""

    @classmethod
    def of(cls, data: Sequence[Element], ack: Sequence[Element], tested_flows: int, other_flows: int) -> Self:
        """Return the size of a path's elements with the given numbers of flows."""
        elements = [*data, *ack]
        schedules = [element.get("schedule") for element in elements]
        changes = sum(len(schedule) for schedule in schedules if isinstance(schedule, list))
        delays = sum("delay_ms" in element for element in elements)
        return cls(
            tested_flows, other_flows, len(elements), changes, delays, sum("rate_mbps" in element for element in ack)
        )

    @property
    def flows(self) -> int:
        """Number of all flows."""
        return self.tested_flows + self.other_flows

    @property
    def parts(self) -> int:
        """Number of parts that need memory."""
        return self.flows + self.elements + self.changes

    def with_flows(self, tested_flows: int, other_flows: int | None = None) -> Self:
        """Return the size with other numbers of flows; None keeps the number of the other flows."""
        return replace(
            self, tested_flows=tested_flows, other_flows=self.other_flows if other_flows is None else other_flows
        )

    def with_elements(self, count: int) -> Self:
        """Return the size with `count` more elements."""
        return replace(self, elements=self.elements + count)

    def with_changes(self, count: int) -> Self:
        """Return the size with `count` more scheduled changes."""
        return replace(self, changes=self.changes + count)
