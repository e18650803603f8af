"""Whether a call says anything about congestion control: the rules, on figures that anybody can make up."""

from dataclasses import dataclass, field

from dumbbell_webrtc.samples import Record, growth
from dumbbell_webrtc.trace import Value

LEAST_FRAME_SHARE = 0.9
"""Frames that have to be encoded, of those that the source has."""
FULL_RATE_FROM_BPS = 0.8e6
"""Below this target an encoder may leave out frames."""
MOST_CPU_SHARE = 0.8
"""Of one processor, by one browser."""
MOST_ENCODE_MS = 25.0
HELD_BACK_SHARE = 0.5
"""A controller that lets its encoder have less than this share of its estimate has frames dropped on purpose."""
_FRAME_RATE_COVERS_MS = 1000.0
"""The browser's frames per second are those of the last second."""
_SETTLED_AFTER_MS = 2000.0
"""The figures of the first seconds of a call are about its start."""
_LEAST_RECORDS = 10


@dataclass
class Conduct:
    """How one side of a call went."""

    fps: float | None = None
    """Frames per second of the source; the receiver has none."""
    began_at: float | None = None
    """When the call began, ms of the page's clock."""
    connected_at: float | None = None
    media_at: float | None = None
    state: str = "new"
    frame_rates: list[float] = field(default_factory=list)
    """Encoded frames per second, while neither the target nor the controller was an excuse."""
    encode_ms: float | None = None
    """Mean over the call."""
    cpu_share: float | None = None
    cpu_limited: bool = False
    written: int = 0
    skipped: int = 0
    sent_with_ect1: int = 0
    _first: Record | None = None
    _pushes_back: bool = False
    _held_back_until: float = 0.0

    def heed(self, logged: list[Value]) -> None:
        """Takes in what the controller has logged in one line."""
        values = {field: value for field, _unit, value in logged}
        if "gcc_target" in values and "gcc_estimate" in values:
            self._pushes_back = values["gcc_target"] < HELD_BACK_SHARE * values["gcc_estimate"]

    def note(self, records: list[Record], states: list[dict[str, object]]) -> None:
        """Takes in what the page has seen since the last time."""
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
        self.written, self.skipped = source.get("written", 0), source.get("skipped", 0)
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
        """Why the run must not be used; `None` if nothing speaks against it."""
        if self.connected_at is None:
            return "the call was not connected when the flow ended"
        if self.media_at is None:
            return "no media had arrived when the flow ended" if self.fps is None else "no media was sent"
        return self._slow() or self._content()

    def _slow(self) -> str | None:
        """Whether the processor, not the path, set the pace."""
        if self.cpu_share is not None and self.cpu_share > MOST_CPU_SHARE:
            return f"CPU limited: the browser took {self.cpu_share:.0%} of a processor, more than {MOST_CPU_SHARE:.0%}"
        if self.cpu_limited:
            return "CPU limited: the browser itself says so (qualityLimitationReason)"
        if self.encode_ms is not None and self.encode_ms > MOST_ENCODE_MS:
            return f"CPU limited: a frame took {self.encode_ms:.1f} ms to encode, more than {MOST_ENCODE_MS:g}"
        if self.skipped > (1 - LEAST_FRAME_SHARE) * (self.written + self.skipped):
            return f"CPU limited: {self.skipped} of {self.written + self.skipped} frames were skipped at the source"
        return None

    def _content(self) -> str | None:
        """Whether the encoder could not follow its target."""
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
    """Whether nothing may be sent because nothing is acknowledged: the browser then names no available rate."""
    return "pair" in record and not record["pair"].get("availableOutgoingBitrate")
