"""What a run with real packets shows while it goes on: the file that `crates/datapath/src/live.rs` writes."""

from __future__ import annotations

from typing import TypedDict


class DelayShown(TypedDict):
    """One-way delays since the content before: what 50 and 95 % of the packets did not exceed, and all, ms."""

    p50: float
    p95: float
    max: float


class ValueShown(TypedDict):
    """One value of a sender's state."""

    name: str
    unit: str
    value: float


class FlowShown(TypedDict):
    """A flow: bytes and packets since the start of the run. `delay_ms` is null where it is not known."""

    flow: int
    scheme: str
    sent_bytes: int
    delivered_bytes: int
    delivered_packets: int
    delay_ms: DelayShown | None
    state: list[ValueShown]


class LinkShown(TypedDict):
    """A link: what waits in its queue, and its counts since the start of the run."""

    name: str
    queue_packets: int
    queue_bytes: int
    dropped_packets: int
    marked_packets: int
    delivered_bytes: int
    offered_bytes: int


class RunShown(TypedDict):
    """A run at a moment. `duration_s` is null where nobody knows how long it lasts."""

    at_s: float
    duration_s: float | None
    attempt: int
    flows: list[FlowShown]
    links: list[LinkShown]
