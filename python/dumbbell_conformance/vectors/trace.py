"""A trace as a table: the sender's state after each acknowledgement."""

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
    """The fields of an event in dumbbell's qlog that are read."""

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
    """Rows under construction. The state after an ACK is the first reported state before the next packet leaves."""

    rows: list[Row]
    state: Row
    payload: dict[int, int]
    lost_packets: int = 0
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
            self.lost_packets += 1
        elif name == "packet_received" and "frames" in data:
            self.settle()
            ranges = data["frames"][0]["acked_ranges"]
            numbers = [number for first, last in ranges for number in range(first, last + 1)]
            acked_bytes = sum(self.payload.pop(number, 0) for number in numbers)
            self.waiting = {"time_ms": time_ms, "acked_packets": len(numbers), "acked_bytes": acked_bytes}


def acknowledgements(trace: Path) -> list[Row]:
    """Return a row for each ACK in a trace of dumbbell that acknowledges new packets."""
    table = _Table([], dict.fromkeys(_STATE.values()), {})
    for record in trace.read_text(encoding="utf-8").split("\x1e")[2:]:
        event = json.loads(record)
        before = len(table.rows)
        table.take(event["time"], event["name"].split(":")[1], event["data"])
        if len(table.rows) > before:
            table.rows[-1]["lost_packets"] = table.lost_packets
            table.lost_packets = 0
    table.settle()
    return [{column: row.get(column) for column in COLUMNS} for row in table.rows]


def to_csv(rows: list[Row]) -> str:
    """Return the rows with a line of column names. Missing values are empty."""
    lines = [",".join(COLUMNS)]
    lines += [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"
