"""A trace as a table: what the sender knew after each acknowledgement."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

COLUMNS = {
    "time_ms": "when the ACK arrived",
    "acked_packets": "newly acknowledged packets",
    "acked_bytes": "their payload",
    "lost_packets": "packets declared lost since the row before",
    "in_flight_bytes": "payload in flight",
    "latest_rtt_ms": "round-trip time of the newest acknowledged packet",
    "srtt_ms": "smoothed round-trip time (RFC 9002)",
    "cwnd_bytes": "most bytes in flight; empty: no limit",
    "ssthresh_bytes": "slow start threshold; empty: none yet, or the scheme has none",
    "pacing_bps": "pacing rate, bit/s; empty: not paced",
}
_STATE = {
    "bytes_in_flight": "in_flight_bytes",
    "latest_rtt": "latest_rtt_ms",
    "smoothed_rtt": "srtt_ms",
    "congestion_window": "cwnd_bytes",
    "ssthresh": "ssthresh_bytes",
    "pacing_rate": "pacing_bps",
}
Row = dict[str, float | int | None]


class QlogHeader(TypedDict):
    """Header of a packet."""

    packet_number: int


class QlogData(TypedDict, total=False):
    """Data of an event of dumbbell's own qlog, as far as it is read."""

    header: QlogHeader
    raw: dict[str, int]
    frames: list[dict[str, list[tuple[int, int]]]]
    bytes_in_flight: int
    latest_rtt: float
    smoothed_rtt: float
    congestion_window: int
    ssthresh: int
    pacing_rate: float


@dataclass
class _Table:
    """Rows in the making. The state after an ACK is the first that is reported after it, before anything is sent."""

    rows: list[Row]
    state: Row
    payload: dict[int, int]
    lost: int = 0
    waiting: Row | None = None

    def settle(self) -> None:
        if self.waiting is not None:
            self.rows.append(self.waiting | self.state)
            self.waiting = None

    def take(self, time_ms: float, name: str, data: QlogData) -> None:
        if name == "metrics_updated":
            self.state |= {column: cast("float", dict(data)[key]) for key, column in _STATE.items() if key in data}
            self.settle()
        elif name == "packet_sent":
            self.settle()
            self.payload[data["header"]["packet_number"]] = data["raw"].get("payload_length", 0)
        elif name == "packet_lost":
            self.lost += 1
        elif name == "packet_received" and "frames" in data:
            self.settle()
            ranges = data["frames"][0]["acked_ranges"]
            numbers = [number for first, last in ranges for number in range(first, last + 1)]
            acked = sum(self.payload.pop(number, 0) for number in numbers)
            self.waiting = {"time_ms": time_ms, "acked_packets": len(numbers), "acked_bytes": acked}


def acknowledgements(trace: Path) -> list[Row]:
    """A row for each ACK of a trace of ours that acknowledged something."""
    table = _Table([], dict.fromkeys(_STATE.values()), {})
    for record in trace.read_text(encoding="utf-8").split("\x1e")[2:]:
        event = json.loads(record)
        before = len(table.rows)
        table.take(event["time"], event["name"].split(":")[1], event["data"])
        if len(table.rows) > before:
            table.rows[-1]["lost_packets"] = table.lost
            table.lost = 0
    table.settle()
    return [{column: row.get(column) for column in COLUMNS} for row in table.rows]


def to_csv(rows: list[Row]) -> str:
    """The rows with a line of column names; what does not exist is empty."""
    lines = [",".join(COLUMNS)]
    lines += [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"
