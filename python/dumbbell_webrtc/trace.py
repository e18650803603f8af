"""What the congestion controller writes into the browser's log: its state, as samples."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.trials import controller

_STAMP = re.compile(r"\[(\d\d)(\d\d)/(\d\d)(\d\d)(\d\d)\.(\d{6}):")
_FIELDS = {
    "] ScreamV2: ": (
        (re.compile(r"ref_window ?= ?(\d+) bytes"), "ref_window", "bytes", 1.0),
        (re.compile(r"l4s_alpha ?= ?([\d.]+)"), "l4s_alpha", "", 1.0),
        (re.compile(r"smoothed_rtt ?= ?(\d+)"), "srtt", "ms", 1.0),
        (re.compile(r"queue_delay ?= ?(\d+)"), "queueing_delay", "ms", 1.0),
        (re.compile(r"target_rate ?= ?(\d+)"), "scream_target", "Mbit/s", 1e-3),
    ),
    "pushback_target_bps=": (
        (re.compile(r"pushback_target_bps=(\d+)"), "gcc_target", "Mbit/s", 1e-6),
        (re.compile(r"estimate_bps=(\d+)"), "gcc_estimate", "Mbit/s", 1e-6),
    ),
}
"""Lines that hold this text: where a value stands, and its field, unit and factor."""

Value = tuple[str, str, float]
"""Field, unit, value."""


@dataclass
class Trace:
    """Reads a log that grows."""

    file: Path
    clock: Clock = SYSTEM_CLOCK
    controller: str | None = None
    """The controller that has shown itself so far."""
    _offset: int = 0
    _rest: bytes = b""

    def read(self) -> Iterator[tuple[float, list[Value]]]:
        """What was added since the last time: seconds since 1970, and the values of that line."""
        try:
            with self.file.open("rb") as file:
                file.seek(self._offset)
                added = file.read()
        except OSError:
            return
        self._offset += len(added)
        *lines, self._rest = (self._rest + added).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            # SCReAM runs inside of objects of GCC: once seen, it is what decides
            if self.controller != "ScreamV2":
                self.controller = controller(text) or self.controller
            at = _time(text, self.clock.utc())
            found = list(_values(text)) if at is not None else []
            if at is not None and found:
                yield at, found


def _values(line: str) -> Iterator[Value]:
    for mark, fields in _FIELDS.items():
        if mark in line:
            for pattern, field, unit, factor in fields:
                match = pattern.search(line)
                if match:
                    yield field, unit, float(match[1]) * factor


def _time(line: str, now: datetime.datetime) -> float | None:
    """The time of a line of the log, which names no year and is in UTC."""
    match = _STAMP.match(line)
    if match is None:
        return None
    month, day, hour, minute, second, micros = map(int, match.groups())
    # in January a line may still be of December
    year = now.year - (month > now.month)
    try:
        stamp = datetime.datetime(year, month, day, hour, minute, second, micros, datetime.UTC)
    except ValueError:
        return None
    return stamp.timestamp()
