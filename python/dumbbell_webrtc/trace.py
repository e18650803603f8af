"""Log of the browser's congestion controller, converted to samples."""

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
"""By text in a line: the pattern of a value, and its field, unit and factor."""

Value = tuple[str, str, float]
"""Field, unit, value."""


@dataclass
class Trace:
    """Reader of a growing log."""

    file: Path
    clock: Clock = SYSTEM_CLOCK
    controller: str | None = None
    """Controller seen in the log up to now."""
    _offset: int = 0
    _rest: bytes = b""

    def read(self) -> Iterator[tuple[float, list[Value]]]:
        """Yield the new lines since the last call: seconds since 1970, and the values of the line."""
        try:
            with self.file.open("rb") as file:
                file.seek(self._offset)
                contents = file.read()
        except OSError:
            return
        self._offset += len(contents)
        *lines, self._rest = (self._rest + contents).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace")
            # SCReAM runs inside of GCC's objects: once it appears, it decides.
            if self.controller != "ScreamV2":
                self.controller = controller(text) or self.controller
            at = _time(text, self.clock.utc())
            line_values = list(_values(text)) if at is not None else []
            if at is not None and line_values:
                yield at, line_values


def _values(line: str) -> Iterator[Value]:
    for mark, fields in _FIELDS.items():
        if mark in line:
            for pattern, field, unit, factor in fields:
                match = pattern.search(line)
                if match:
                    yield field, unit, float(match[1]) * factor


def _time(line: str, now: datetime.datetime) -> float | None:
    """Return the time of a line, s after 1970. The log names no year and uses UTC."""
    match = _STAMP.match(line)
    if match is None:
        return None
    month, day, hour, minute, second, micros = map(int, match.groups())
    # In January a line may still be from December.
    year = now.year - (month > now.month)
    try:
        stamp = datetime.datetime(year, month, day, hour, minute, second, micros, datetime.UTC)
    except ValueError:
        return None
    return stamp.timestamp()
