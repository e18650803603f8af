"""The packets of one flow: times of sending, and one-way delays of the packets that arrived."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell import core

_SEND, _DELIVER = "send", "deliver"
_LINGER_S = 0.3
"""Time before the end of a run in which packets may still arrive, s. Earlier packets that did not arrive are lost."""


@dataclass(frozen=True)
class FlowLog:
    """Packets in the order of sending. Times in s since the start of the run, delays in ms; NaN for lost packets."""

    sent_s: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    size_bytes: NDArray[np.int64]

    @property
    def lost(self) -> NDArray[np.bool_]:
        """True for each lost packet."""
        return np.isnan(self.delay_ms)

    @property
    def arrived_s(self) -> NDArray[np.float64]:
        """Arrival times, s; NaN for lost packets."""
        times: NDArray[np.float64] = self.sent_s + self.delay_ms / 1e3
        return times

    def overtaken(self) -> NDArray[np.bool_]:
        """Return True for each packet that arrived after a packet sent later."""
        came = np.where(self.lost, np.inf, self.arrived_s)
        is_overtaken = np.zeros(len(came), dtype=bool)
        if len(is_overtaken) > 1:
            earliest_after = np.minimum.accumulate(came[::-1])[::-1]
            is_overtaken[:-1] = (came[:-1] > earliest_after[1:]) & ~self.lost[:-1]
        return is_overtaken

    def full(self) -> "FlowLog":
        """Return only the packets of the largest size, whose delays are comparable."""
        return self.select(self.size_bytes == self.size_bytes.max()) if len(self.sent_s) else self

    def select(self, mask: NDArray[np.bool_]) -> "FlowLog":
        """Return the packets selected by `mask`."""
        return FlowLog(self.sent_s[mask], self.delay_ms[mask], self.size_bytes[mask])

    def queueing_ms(self) -> NDArray[np.float64]:
        """Return the delay of each packet above the smallest, ms."""
        queueing: NDArray[np.float64] = self.delay_ms - np.nanmin(self.delay_ms)
        return queueing

    def queueing_before(self) -> NDArray[np.float64]:
        """Return for each packet the queueing delay of the last earlier arrival, ms; NaN at the beginning."""
        queueing = self.queueing_ms()
        last = np.where(~np.isnan(queueing), np.arange(len(queueing)), -1)
        last = np.concatenate(([-1], np.maximum.accumulate(last)[:-1]))
        return np.where(last >= 0, queueing[last], np.nan)


def read_flows(packets: Path, run: Mapping[str, Any]) -> list[FlowLog]:
    """Return the flows of a run's packet log, without packets sent too late for a verdict."""
    return flow_logs(core.read_packets(packets), len(run["flows"]), float(run["duration_s"]))


def flow_logs(table: core.Table, flows: int, duration_s: float) -> list[FlowLog]:
    """Return the flows of a packet log in memory."""
    codes = {name: code for code, name in enumerate(table.dictionary("event") or [])}
    column: dict[str, NDArray[Any]] = {name: np.asarray(table.column(name)) for name in table.names()}
    logs = []
    for flow in range(1, flows + 1):
        in_flow = column["flow"] == flow
        is_sent = in_flow & (column["event"] == codes.get(_SEND, -1))
        came = in_flow & (column["event"] == codes.get(_DELIVER, -1))
        order = np.argsort(column["seq"][is_sent], kind="stable")
        numbers = column["seq"][is_sent][order].astype(np.int64)
        sent_s = column["time_ns"][is_sent][order] / 1e9
        delay_ms = np.full(len(numbers), np.nan)
        arrived_numbers = column["seq"][came].astype(np.int64)
        # A duplicate arrives later than its original.
        places = np.searchsorted(numbers, arrived_numbers[::-1])
        is_known = (places < len(numbers)) & (numbers[np.minimum(places, len(numbers) - 1)] == arrived_numbers[::-1])
        delay_ms[places[is_known]] = column["one_way_delay_ns"][came][::-1][is_known] / 1e6
        log = FlowLog(sent_s, delay_ms, column["size_bytes"][is_sent][order].astype(np.int64))
        if len(arrived_numbers):
            longest_s = (float(np.nanmax(delay_ms)) - min(float(np.nanmin(delay_ms)), 0.0)) / 1e3
            until_s = duration_s - longest_s - _LINGER_S
            log = log.select(log.sent_s <= until_s)
        logs.append(log)
    return logs
