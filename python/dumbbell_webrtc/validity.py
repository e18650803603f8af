"""Rules that decide if a call is a valid measurement of congestion control. Their input is plain data, for tests."""

from dataclasses import dataclass, field

from dumbbell_webrtc.samples import Record, growth
from dumbbell_webrtc.trace import Value

LEAST_FRAME_SHARE = 0.9
"""Minimum number of encoded frames, as a fraction of the source's frames."""
FULL_RATE_FROM_BPS = 0.8e6
"""Minimum target above which an encoder must encode all frames, bit/s."""
MOST_CPU_SHARE = 0.8
"""Maximum CPU time of one browser, as a fraction of one CPU."""
MOST_ENCODE_MS = 25.0
HELD_BACK_SHARE = 0.5
"""Minimum fraction of its estimate that a controller gives its encoder. Below it, frames are dropped on purpose."""
_FRAME_RATE_COVERS_MS = 1000.0
"""Averaging time of the browser's frame rate, ms."""
_SETTLED_AFTER_MS = 2000.0
"""Time after which figures count, ms. Before it, they describe the start of the call."""
_LEAST_RECORDS = 10


@dataclass
class Conduct:
    """Course of a call at one end."""

    fps: float | None = None
    """Frames per second of the source; None for a receiver."""
    began_at: float | None = None
    """Start of the call, ms of the page's clock."""
    connected_at: float | None = None
    media_at: float | None = None
    state: str = "new"
    frame_rates: list[float] = field(default_factory=list)
    """Encoded frames per second at times when neither target nor controller excuses dropped frames."""
    encode_ms: float | None = None
    """Mean encoding time over the call, ms."""
    cpu_share: float | None = None
    cpu_limited: bool = False
    frames_written: int = 0
    frames_skipped: int = 0
    sent_with_ect1: int = 0
    _first: Record | None = None
    _pushes_back: bool = False
    _held_back_until: float = 0.0

    def heed(self, line_values: list[Value]) -> None:
        """Process the values of one log line of the controller."""
        values = {field: value for field, _unit, value in line_values}
        if "gcc_target" in values and "gcc_estimate" in values:
            self._pushes_back = values["gcc_target"] < HELD_BACK_SHARE * values["gcc_estimate"]

    def note(self, records: list[Record], states: list[dict[str, object]]) -> None:
        """Process the page's records and state changes since the last call."""
        for change in states:
            self.state = str(change["state"])
            if self.state == "connected" and self.connected_at is None:
                self.connected_at = float(str(change["at"]))
        for record in records:
            self._note(record)

    def _note(self, record: Record) -> None:
        if self.began_at is None:
            self.began_at = record["at"]
        outbound, inbound = record.get("outbound", {}), record.get("inbound", {})
        if self.media_at is None and (outbound.get("bytesSent") or inbound.get("packetsReceived")):
            self.media_at = record["at"]
        source = record.get("source", {})
        self.frames_written, self.frames_skipped = source.get("written", 0), source.get("skipped", 0)
        self.sent_with_ect1 = outbound.get("packetsSentWithEct1", 0)
        self.cpu_limited |= outbound.get("qualityLimitationReason") == "cpu"
        if self.media_at is None or record["at"] < self.media_at + _SETTLED_AFTER_MS:
            return
        if self._first is None:
            self._first = record
        mean_s = growth(record, self._first, "outbound", "totalEncodeTime", "framesEncoded")
        self.encode_ms = mean_s * 1e3 if mean_s is not None else self.encode_ms
        if self._pushes_back or _is_stopped(record):
            self._held_back_until = record["at"] + _FRAME_RATE_COVERS_MS
        elif outbound.get("targetBitrate", 0) > FULL_RATE_FROM_BPS and record["at"] >= self._held_back_until:
            self.frame_rates.append(outbound.get("framesPerSecond", 0.0))

    def objection(self) -> str | None:
        """Return the reason why the run must not be used, or None."""
        if self.connected_at is None:
            return "the call was not connected when the flow ended"
        if self.media_at is None:
            return "no media had arrived when the flow ended" if self.fps is None else "no media was sent"
        return self._slow() or self._content()

    def _slow(self) -> str | None:
        """Return a reason if the CPU, not the path, limited the rate, else None."""
        if self.cpu_share is not None and self.cpu_share > MOST_CPU_SHARE:
            return f"CPU limited: the browser took {self.cpu_share:.0%} of a processor, more than {MOST_CPU_SHARE:.0%}"
        if self.cpu_limited:
            return "CPU limited: the browser itself says so (qualityLimitationReason)"
        if self.encode_ms is not None and self.encode_ms > MOST_ENCODE_MS:
            return f"CPU limited: a frame took {self.encode_ms:.1f} ms to encode, more than {MOST_ENCODE_MS:g}"
        frames = self.frames_written + self.frames_skipped
        if self.frames_skipped > (1 - LEAST_FRAME_SHARE) * frames:
            return f"CPU limited: {self.frames_skipped} of {frames} frames were skipped at the source"
        return None

    def _content(self) -> str | None:
        """Return a reason if the encoder could not follow its target, else None."""
        if self.fps is None or len(self.frame_rates) < _LEAST_RECORDS:
            return None
        mean = sum(self.frame_rates) / len(self.frame_rates)
        if mean >= LEAST_FRAME_SHARE * self.fps:
            return None
        return (
            f"content limited: {mean:.1f} of {self.fps:g} frames per second were encoded while the target was above "
            f"{FULL_RATE_FROM_BPS / 1e6:g} Mbit/s: less noise, a smaller picture or more bandwidth"
        )


def _is_stopped(record: Record) -> bool:
    """Return True if nothing may be sent since nothing is acknowledged: the browser then omits the available rate."""
    return "pair" in record and not record["pair"].get("availableOutgoingBitrate")
