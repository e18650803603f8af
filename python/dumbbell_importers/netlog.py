"""Logs of Chrome's network stack (`--log-net-log`, chrome://net-export): QUIC sessions.

The packets of a session, with their ACKs and losses, are written as qlog and read by the importer of qlog.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from dumbbell import core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.core.logs import import_qlog
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.traces import Trace, TracedFlow, import_traces, label_of, read_log, started_at
from dumbbell.results import ResultsDirectory
from dumbbell.results.analysis.findings.words import counted

NOTES = """\
Imported from logs of Chrome's network stack: what QUIC sessions sent. A packet counts as delivered when its
acknowledgement arrived. There are round-trip times and no one-way delays; throughput is what was acknowledged.
"""
SUFFIXES = (".json", ".netlog")
_LEAST_SENT = 10
"""Minimum number of packets in a session that becomes a run."""
_MOST_SESSIONS = 64
_MOST_MISSING = 100_000
_SPACES = {
    "ENCRYPTION_INITIAL": "initial",
    "ENCRYPTION_HANDSHAKE": "handshake",
    "INITIAL": "initial",
    "HANDSHAKE": "handshake",
}
"""qlog's packet types by Chrome's names, for packet number spaces other than that of the data."""
_SENT = "QUIC_SESSION_PACKET_SENT"
_FRAME_SENT = "_FRAME_SENT"
_RECEIVED = "QUIC_SESSION_PACKET_RECEIVED"
_HEADER = "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED"
_ACK = "QUIC_SESSION_ACK_FRAME_RECEIVED"
_LOST = "QUIC_SESSION_PACKET_LOST"
_SESSION = "QUIC_SESSION"


class _Event(TypedDict):
    """Event of qlog."""

    time: float
    name: str
    data: dict[str, object]


class _ChromeEvent(TypedDict):
    """Event of Chrome's log. Code that uses a part refuses one of another type."""

    type: int
    time: float
    source: dict[str, int]
    params: NotRequired[_Params]


class _Params(TypedDict, total=False):
    """Parameters of an event that are read."""

    host: str
    length: int
    size: int
    packet_number: int
    long_header_type: str
    encryption_level: str
    largest_observed: int
    smallest_observed: int
    missing_packets: list[int]
    delta_time_largest_observed_us: float


class _Constants(TypedDict):
    """Constants of Chrome's log."""

    logEventTypes: dict[str, int]
    timeTickOffset: float


@dataclass
class _Session:
    """QUIC session of a log, as events of qlog."""

    host: str = ""
    events: list[_Event] = field(default_factory=list)
    sent_packets: dict[tuple[str, int], bool] = field(default_factory=dict)
    """Packets by type and number, with True for acknowledged ones."""
    lowest: dict[str, int] = field(default_factory=dict)
    """Lowest number of each type that may not be acknowledged yet."""
    frames: list[dict[str, object]] = field(default_factory=list)
    """Frames of the packet that Chrome is building."""
    received_packets: int = 0
    size: int = 0
    """Size of the packet that Chrome is reading, bytes."""
    type: str = "1RTT"

    def put(self, time_ms: float, name: str, kind: str, number: int, **more: object) -> None:
        """Append an event of qlog."""
        header = {"packet_type": kind, "packet_number": number}
        self.events.append({"time": time_ms, "name": name, "data": {"header": header, **more}})


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a log of Chrome's network stack, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (with file and line), or `out` is in use.
    """
    return import_traces(request, kind="netlog", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    constants, events, unreadable = _log(file)
    try:
        names = {int(number): str(name) for name, number in constants["logEventTypes"].items()}
        offset_ms = float(constants["timeTickOffset"])
        sessions = _sessions(file, names, events)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what Chrome writes: {one_line(error)}") from None
    if not sessions:
        raise UserError(f"{file}: there is no QUIC session in it: nothing to import (TCP tells no packets there)")
    large = sorted(
        (session for session in sessions if len(session.sent_packets) >= _LEAST_SENT),
        key=lambda session: -len(session.sent_packets),
    )
    if not large:
        raise UserError(
            f"{file}: has {counted(len(sessions), 'QUIC session')}, none of which sent {_LEAST_SENT} packets or more"
        )
    traces: list[Trace] = []
    for number, session in enumerate(large[:_MOST_SESSIONS], 1):
        labels = [*used, *(trace.label for trace in traces)]
        label = label_of(file.stem, labels, "netlog", number if len(large) > 1 else None)
        traces.append(_trace(label, file, folder / str(number), session, offset_ms))
    left = len(sessions) - len(traces)
    notes = [f"left out: {counted(left, 'QUIC session')} that sent little"] if left else []
    notes += [f"left out: {counted(unreadable, 'line')} that cannot be read"] if unreadable else []
    return [replace(traces[0], notes=(*traces[0].notes, *notes)), *traces[1:]]


def _log(file: Path) -> tuple[_Constants, list[_ChromeEvent], int]:
    """Return the constants of a log, its events, and the number of unreadable lines: Chrome writes one line per event.

    Raises:
        UserError: If it is no log of Chrome's.
    """
    text = read_log(file)
    lines = text.splitlines()
    if lines[0].startswith('{"constants"') and len(lines) > 2:
        try:
            head = parse_json(lines[0].rstrip().rstrip(",") + "}")
        except BadJson as error:
            raise UserError(f"{file}:1: {error.reason}") from None
        events, unreadable = [], 0
        for line in lines[2:]:
            content = line.strip().rstrip(",").removesuffix("}").removesuffix("]").rstrip(",")
            if not content.startswith('{"') or '"source"' not in content:
                continue
            for end in ("", "}"):
                try:
                    event = parse_json(content + end)
                except BadJson:
                    continue
                events.append(event)
                break
            else:
                unreadable += 1
        log: object = head | {"events": events}
    else:
        unreadable = 0
        try:
            log = parse_json(text)
        except BadJson as error:
            raise UserError(f"{file}:{error.line}: {error.reason}") from None
    if not isinstance(log, dict) or not isinstance(log.get("constants"), dict) or "events" not in log:
        raise UserError(f"{file}: is no log of Chrome's: needed are the keys constants and events")
    if not isinstance(log["events"], list):
        raise UserError(f"{file}: is no log of Chrome's: `events` is a list")
    return cast("_Constants", log["constants"]), cast("list[_ChromeEvent]", log["events"]), unreadable


def _sessions(file: Path, names: dict[int, str], events: list[_ChromeEvent]) -> list[_Session]:
    """Return the QUIC sessions of a log.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: If an event is not what Chrome writes.
    """
    sessions: dict[int, _Session] = {}
    for event in events:
        name = names.get(int(event["type"]), "")
        if not name.startswith(_SESSION):
            continue
        session = sessions.setdefault(int(event["source"]["id"]), _Session())
        params = event.get("params") or {}
        time_ms = float(event["time"])
        if not 0.0 <= time_ms < 1e15:
            raise ValueError(f"time {time_ms:g} ms: allowed is 0 to 1e15")
        if name == _SESSION and params.get("host"):
            session.host = str(params["host"])[:200]
        elif name.endswith(_FRAME_SENT):
            frame: dict[str, object] = {
                "frame_type": name.removeprefix(f"{_SESSION}_").removesuffix(_FRAME_SENT).lower()
            }
            if "length" in params:
                frame["length"] = int(params["length"])
            session.frames.append(frame)
        elif name == _SENT:
            _sent(session, time_ms, params)
        elif name == _RECEIVED:
            session.received_packets += 1
            session.size = int(params.get("size", 0))
        elif name == _HEADER:
            session.type = _SPACES.get(str(params.get("long_header_type")), "1RTT")
        elif name == _ACK:
            _acknowledged(session, time_ms, params)
        elif name == _LOST:
            _lost(session, time_ms, int(params["packet_number"]))
    return [session for session in sessions.values() if session.sent_packets]


def _sent(session: _Session, time_ms: float, params: _Params) -> None:
    number, size = int(params["packet_number"]), int(params["size"])
    if not (0 <= number < 2**62 and 0 <= size <= 2**16):
        raise ValueError(f"packet {number} of {size} bytes")
    kind = _SPACES.get(str(params.get("encryption_level")), "1RTT")
    session.sent_packets[kind, number] = False
    session.lowest.setdefault(kind, number)
    # Chrome lists the frames of a packet before the packet. A packet of ACKs alone is not acknowledged.
    session.put(time_ms, "transport:packet_sent", kind, number, raw={"length": size}, frames=session.frames)
    session.frames = []


def _acknowledged(session: _Session, time_ms: float, params: _Params) -> None:
    """Process an ACK frame: it covers all packets up to the largest number, except for the missing ones."""
    largest = int(params["largest_observed"])
    missing = {int(number) for number in (params.get("missing_packets") or [])}
    if len(missing) > _MOST_MISSING:
        raise ValueError(f"{len(missing)} missing packets: allowed are {_MOST_MISSING}")
    kind = session.type if (session.type, largest) in session.sent_packets else "1RTT"
    if (kind, largest) not in session.sent_packets:
        return
    least = max(int(params.get("smallest_observed", 0)), session.lowest[kind])
    newly = [
        number
        for number in range(least, min(largest, least + _MOST_MISSING) + 1)
        if session.sent_packets.get((kind, number)) is False and number not in missing
    ]
    for number in newly:
        session.sent_packets[kind, number] = True
    while session.sent_packets.get((kind, session.lowest[kind])) and session.lowest[kind] < largest:
        session.lowest[kind] += 1
    if newly:
        frame = {
            "frame_type": "ack",
            "acked_ranges": [[number, number] for number in newly],
            "ack_delay": float(params.get("delta_time_largest_observed_us", 0)) / 1e3,
        }
        raw = {"length": session.size}
        session.put(time_ms, "transport:packet_received", kind, session.received_packets, raw=raw, frames=[frame])


def _lost(session: _Session, time_ms: float, number: int) -> None:
    kinds = [kind for kind in ("1RTT", "handshake", "initial") if session.sent_packets.get((kind, number)) is False]
    if kinds:
        session.put(time_ms, "recovery:packet_lost", kinds[0], number)


def _trace(label: str, file: Path, folder: Path, session: _Session, offset_ms: float) -> Trace:
    folder.mkdir()
    qlog_file = folder / "session.sqlog"
    with qlog_file.open("w", encoding="utf-8") as stream:
        for record in _qlog(session):
            stream.write(f"\x1e{json.dumps(record)}\n")
    try:
        (run,) = import_qlog(str(qlog_file), str(folder))
    except core.Error as error:
        raise UserError(str(error).replace(str(qlog_file), str(file))) from None
    first_ms = session.events[0]["time"]
    start: datetime | None = started_at(file, (offset_ms + first_ms) / 1e3) if offset_ms > 0 else None
    losses = sum(event["name"] == "recovery:packet_lost" for event in session.events)
    notes = [
        f"QUIC session with {session.host or 'a host that is not told'}: "
        f"{len(session.sent_packets)} packets sent, {sum(session.sent_packets.values())} acknowledged, "
        f"{losses} declared lost",
        "written by a browser: all numbers are of what it sent, not of what it received",
    ]
    if not run["acked"]:
        notes.append("there are no acknowledged packets: what arrived, and how much was lost, is not known")
    return Trace(
        label=label,
        source=file.name,
        flows=(TracedFlow(1),),
        packets=folder / "1" / "packets.parquet",
        samples=folder / "1" / "flows.parquet",
        last_s=run["last_s"],
        events=run["events"],
        tells={"arrivals": run["acked"] > 0, "marks": False, "delay": "round-trip"},
        facts={**run, "host": session.host},
        notes=tuple(notes),
        start_time=start,
    )


def _qlog(session: _Session) -> Iterator[dict[str, object]]:
    """Yield the records of a session as qlog 0.3."""
    first_ms = session.events[0]["time"]
    common = {"ODCID": "0", "time_format": "relative", "reference_time": first_ms}
    trace = {"common_fields": common, "vantage_point": {"type": "client"}}
    yield {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": trace}
    for event in session.events:
        yield {**event, "time": event["time"] - first_ms}
