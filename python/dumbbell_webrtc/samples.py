"""Samples of a flow from the browser's statistics: names, units, one line of JSON each."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.trace import Value

Record = dict[str, Any]
"""Fields that page.js selects from one `getStats()`: `at` (ms), and the fields of each kind of report."""

_GAUGES = (
    # Kind of report, browser's field, dumbbell's field, unit, factor.
    ("outbound", "targetBitrate", "target_rate", "Mbit/s", 1e-6),
    ("pair", "availableOutgoingBitrate", "available_rate", "Mbit/s", 1e-6),
    ("pair", "currentRoundTripTime", "rtt", "ms", 1e3),
    ("pair", "packetsDiscardedOnSend", "discarded_on_send", "packets", 1.0),
    ("outbound", "framesPerSecond", "encoded_frame_rate", "1/s", 1.0),
    ("outbound", "frameHeight", "frame_height", "pixels", 1.0),
    ("outbound", "retransmittedBytesSent", "retransmitted", "bytes", 1.0),
    ("outbound", "nackCount", "nacks", "", 1.0),
    ("outbound", "pliCount", "key_frame_requests", "", 1.0),
    ("outbound", "packetsSentWithEct1", "sent_with_ect1", "packets", 1.0),
    ("source", "skipped", "skipped_frames", "frames", 1.0),
    ("remote", "fractionLost", "reported_loss", "", 1.0),
    ("inbound", "framesPerSecond", "decoded_frame_rate", "1/s", 1.0),
    ("inbound", "packetsLost", "packets_lost", "packets", 1.0),
    ("inbound", "packetsReceivedWithCe", "received_with_ce", "packets", 1.0),
    ("inbound", "packetsReceivedWithEct1", "received_with_ect1", "packets", 1.0),
    ("inbound", "framesDropped", "frames_dropped", "frames", 1.0),
    ("inbound", "freezeCount", "freezes", "", 1.0),
    ("inbound", "totalFreezesDuration", "frozen_time", "s", 1.0),
)

_MEANS = (
    # Kind of report, sum, divisor, dumbbell's field, unit, factor.
    ("outbound", "totalEncodeTime", "framesEncoded", "encode_time", "ms", 1e3),
    ("outbound", "qpSum", "framesEncoded", "quantiser", "", 1.0),
    ("outbound", "totalPacketSendDelay", "packetsSent", "send_delay", "ms", 1e3),
    ("inbound", "jitterBufferDelay", "jitterBufferEmittedCount", "jitter_buffer", "ms", 1e3),
    ("inbound", "totalProcessingDelay", "framesDecoded", "processing_delay", "ms", 1e3),
)


def values(record: Record, previous: Record | None) -> list[Value]:
    """Return the values of a record: current states, and means since the previous record."""
    values_: list[Value] = []
    for kind, source, field, unit, factor in _GAUGES:
        value = record.get(kind, {}).get(source)
        if value is not None:
            values_.append((field, unit, value * factor))
    for kind, total, count, field, unit, factor in _MEANS:
        mean = growth(record, previous, kind, total, count)
        if mean is not None:
            values_.append((field, unit, mean * factor))
    return values_


def growth(record: Record, previous: Record | None, kind: str, total: str, count: str) -> float | None:
    """Return the mean growth of `total` per unit of `count` since `previous`, or None if `count` did not grow."""
    new, old = record.get(kind, {}), (previous or {}).get(kind, {})
    if total not in new or not new.get(count):
        return None
    increase = new[count] - old.get(count, 0)
    mean: float = (new[total] - old.get(total, 0)) / increase if increase > 0 else math.nan
    return mean if math.isfinite(mean) else None


class Writer:
    """Writer of samples for the datapath, to the file that `{samples}` names."""

    def __init__(self, file: Path | None, offset_ms: float, clock: Clock = SYSTEM_CLOCK) -> None:
        """Initialise the writer. `offset_ms` converts the page's clock to CLOCK_MONOTONIC."""
        self._file = file
        self._clock = clock
        self._offset_ms = offset_ms
        self._previous: Record | None = None

    def records(self, records: Iterable[Record]) -> None:
        """Write the values of the records."""
        for record in records:
            self.write(self._offset_ms / 1e3 + record["at"] / 1e3, values(record, self._previous))
            self._previous = record

    def log_values(self, lines: Iterable[tuple[float, list[Value]]]) -> None:
        """Write values from the browser's log. Their times are seconds since 1970."""
        offset_s = self._clock.time() - self._clock.monotonic()
        for at, line_values in lines:
            self.write(at - offset_s, line_values)

    def write(self, monotonic_s: float, line_values: list[Value]) -> None:
        """Write the values of one time."""
        if self._file is None or not line_values:
            return
        at = max(0, round(monotonic_s * 1e9))
        lines = [
            json.dumps({"monotonic_ns": at, "field": field, "unit": unit, "value": value})
            for field, unit, value in line_values
        ]
        # One write call, so that a killed process leaves whole lines.
        with self._file.open("ab", buffering=0) as file:
            file.write(("\n".join(lines) + "\n").encode())
