"""Types of the JSON in which the core describes a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypedDict

from dumbbell.contract.read_only import ReadOnly

Steps: TypeAlias = Sequence[tuple[float, float]]
"""Times, s, and the values that hold from then on."""


class PathDelay(TypedDict):
    """A delay of every packet."""

    direction: ReadOnly[str]
    element: ReadOnly[int]
    delay_ms: ReadOnly[float]


class PathLink(TypedDict):
    """A link as the run starts."""

    name: ReadOnly[str]
    direction: ReadOnly[str]
    element: ReadOnly[int]
    kind: ReadOnly[str]
    rate_mbps: ReadOnly[float | None]


class PathDescription(TypedDict):
    """A path: base RTT, capacity, loss, links and bottleneck."""

    base_rtt_ms: ReadOnly[float]
    base_rtts_ms: ReadOnly[Steps | None]
    rates_mbps: ReadOnly[Steps | None]
    losses: ReadOnly[Steps | None]
    delays: ReadOnly[Sequence[PathDelay]]
    links: ReadOnly[Sequence[PathLink]]
    bottleneck: ReadOnly[int | None]
    """Index of the narrowest link of the data direction."""
