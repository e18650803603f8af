"""Packets of one flow: when each left, and when it came, as far as that is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell import _core

_SEND, _DELIVER = "send", "deliver"
_LINGER_S = 0.3
"""Packets that could have come so long before the end are lost if they did not come."""


@dataclass(frozen=True)
class FlowLog:
    """Packets in the order in which they left. Times in s of the run, delays in ms; NaN of what was lost."""

    sent_s: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    size_bytes: NDArray[np.int64]

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Which were lost."""
        return np.isnan(self.delay_ms)

    @property
    def arrived_s(self) -> NDArray[np.float64]:
        """When each came."""
        found: NDArray[np.float64] = self.sent_s + self.delay_ms / 1e3
        return found

    def overtaken(self) -> NDArray[np.bool_]:
        """Which came after a packet that had left after them."""
        came = np.where(self.lost, np.inf, self.arrived_s)
        found = np.zeros(len(came), dtype=bool)
        if len(found) > 1:
            earliest_after = np.minimum.accumulate(came[::-1])[::-1]
            found[:-1] = (came[:-1] > earliest_after[1:]) & ~self.lost[:-1]
        return found

    def full(self) -> "FlowLog":
        """Only packets of the largest size: their delays can be compared."""
        return self.where(self.size_bytes == self.size_bytes.max()) if len(self.sent_s) else self

    def where(self, chosen: NDArray[np.bool_]) -> "FlowLog":
        """Some of them."""
        return FlowLog(self.sent_s[chosen], self.delay_ms[chosen], self.size_bytes[chosen])

    def queueing_ms(self) -> NDArray[np.float64]:
        """By how much each was later than the fastest."""
        found: NDArray[np.float64] = self.delay_ms - np.nanmin(self.delay_ms)
        return found

    def before(self) -> NDArray[np.float64]:
        """For each packet the queueing delay (ms) of the last one before it that came; NaN of the first ones."""
        queueing = self.queueing_ms()
        last = np.where(~np.isnan(queueing), np.arange(len(queueing)), -1)
        last = np.concatenate(([-1], np.maximum.accumulate(last)[:-1]))
        return np.where(last >= 0, queueing[last], np.nan)


def read_flows(packets: Path, run: Mapping[str, Any]) -> list[FlowLog]:
    """The flows of the packet log of a run; what left too late to be known of is left out."""
    return flow_logs(_core.read_packets(packets), len(run["flows"]), float(run["duration_s"]))


def flow_logs(table: _core.Table, flows: int, duration_s: float) -> list[FlowLog]:
    """The flows of a packet log that is in memory."""
    codes = {name: code for code, name in enumerate(table.dictionary("event") or [])}
    column: dict[str, NDArray[Any]] = {name: np.asarray(table.column(name)) for name in table.names()}
    found = []
    for flow in range(1, flows + 1):
        own = column["flow"] == flow
        sent = own & (column["event"] == codes.get(_SEND, -1))
        came = own & (column["event"] == codes.get(_DELIVER, -1))
        order = np.argsort(column["seq"][sent], kind="stable")
        numbers = column["seq"][sent][order].astype(np.int64)
        sent_s = column["time_ns"][sent][order] / 1e9
        delay_ms = np.full(len(numbers), np.nan)
        arrived = column["seq"][came].astype(np.int64)
        # A copy comes later than its original.
        places = np.searchsorted(numbers, arrived[::-1])
        known = (places < len(numbers)) & (numbers[np.minimum(places, len(numbers) - 1)] == arrived[::-1])
        delay_ms[places[known]] = column["one_way_delay_ns"][came][::-1][known] / 1e6
        log = FlowLog(sent_s, delay_ms, column["size_bytes"][sent][order].astype(np.int64))
        if len(arrived):
            longest_s = (float(np.nanmax(delay_ms)) - min(float(np.nanmin(delay_ms)), 0.0)) / 1e3
            until_s = duration_s - longest_s - _LINGER_S
            log = log.where(log.sent_s <= until_s)
        found.append(log)
    return found
