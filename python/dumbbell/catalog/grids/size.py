"""How much the cells of a grid are made of, known before there are any: a few words can ask for any number of flows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from dumbbell.catalog.open_tables import Element

MOST_CHANGES = 100_000
"""Scheduled changes that one value of an axis makes of an element."""
MOST_PARTS = 2_000_000
"""Flows, elements and scheduled changes of all cells together: twenty in each of the most cells."""


@dataclass(frozen=True)
class Size:
    """Of a cell: its flows under test, the other flows, the elements of its path, and their scheduled changes."""

    ours: int
    others: int
    elements: int
    changes: int
    delays: int
    """Elements that may have a part in the base RTT."""
    links: int
    """Elements of the ACKs' direction with a rate."""

    @classmethod
    def of(cls, data: Sequence[Element], ack: Sequence[Element], ours: int, others: int) -> Self:
        """Of a path's elements and so many flows."""
        elements = [*data, *ack]
        schedules = [element.get("schedule") for element in elements]
        changes = sum(len(schedule) for schedule in schedules if isinstance(schedule, list))
        delays = sum("delay_ms" in element for element in elements)
        return cls(ours, others, len(elements), changes, delays, sum("rate_mbps" in element for element in ack))

    @property
    def flows(self) -> int:
        """All of them."""
        return self.ours + self.others

    @property
    def parts(self) -> int:
        """What memory is needed for."""
        return self.flows + self.elements + self.changes

    def with_flows(self, ours: int, others: int | None = None) -> Self:
        """With another number of flows."""
        return replace(self, ours=ours, others=self.others if others is None else others)

    def with_elements(self, count: int) -> Self:
        """With so many elements more."""
        return replace(self, elements=self.elements + count)

    def with_changes(self, count: int) -> Self:
        """With so many scheduled changes more."""
        return replace(self, changes=self.changes + count)
