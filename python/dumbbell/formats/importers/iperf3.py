"""Reports of iperf3 as JSON (`-J`, `--json-stream`): rates, retransmissions, RTT, window.

It tells totals of intervals and no packets: what needs those is absent. Totals that `end` states win over sums of
intervals.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from dumbbell import core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import BadJson, json_parts
from dumbbell.formats.contents import stem_of
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.traces import (
    UNTOLD,
    Row,
    Trace,
    TracedFlow,
    import_traces,
    label_of,
    read_log,
    started_at,
)
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from iperf3's JSON: totals of intervals, of its own counters and of TCP_INFO. There are no packets in it, so
there is no one-way delay; what the path carried besides payload is not known either.
"""
SUFFIXES = (".json",)
MOST_STREAMS = 256
"""iperf3 makes at most 128 (`-P`), and as many the other way with `--bidir`."""
_MOST_VALUES = 4_000_000
_MOST_STREAMED_VALUES = 10_000_000
"""Maximum number of commas in a stream of events: 128 streams have 9 million in an hour and a half."""
_MOST_REPORTS = 1_000
_MOST = 2.0**53
"""Largest value: up to it every whole number is one of its own."""
_LEAST_DIFFERENCE = 0.01
"""Fraction by which the intervals and the end differ if a note says so."""
_MOST_QUOTED = 60


Part = Mapping[str, object]
"""Numbers of a stream: of an interval, or of the end."""


class _Socket(TypedDict):
    socket: int


class _Start(TypedDict):
    """What a report says of its test. What is something else is refused where it is used."""

    connected: list[_Socket]
    test_start: Part
    timestamp: NotRequired[dict[str, float]]
    version: NotRequired[str]
    accepted_connection: NotRequired[object]


class _Interval(TypedDict):
    streams: list[Part]


class _EndOfStream(TypedDict, total=False):
    """Totals of a stream, by the end that counted them."""

    sender: Part
    receiver: Part | None
    udp: Part


class _End(TypedDict, total=False):
    """Totals of a test."""

    streams: list[_EndOfStream]
    sum_sent: Part
    sum_received: Part | None
    sender_tcp_congestion: str
    receiver_tcp_congestion: str


@dataclass
class _Report:
    """A report of a test, and the line in which it begins."""

    line: int
    content: dict[str, object]

    @property
    def test(self) -> tuple[str, bool]:
        """What tells the test from others, and whether the server wrote the report."""
        start = self.content.get("start")
        start = start if isinstance(start, dict) else {}
        cookie = start.get("cookie")
        key = cookie if isinstance(cookie, str) and cookie else json.dumps(self.content, sort_keys=True)
        return key, "accepted_connection" in start

    @property
    def has_end(self) -> bool:
        return isinstance(self.content.get("end"), dict)


@dataclass
class _Point:
    """Totals of a stream at the end of an interval."""

    time_s: float
    bytes: float
    retransmissions: float
    packets: float
    lost: float


@dataclass
class _Stream:
    """The samples of a stream, and its totals after each interval."""

    number: int
    sender: bool
    """Whether the end that wrote the report sent the data."""
    rows: list[Row] = field(default_factory=list)
    points: list[_Point] = field(default_factory=list)
    first_s: float | None = None
    stop_s: float = 0.0
    omitted: bool = False
    has_retransmissions: bool = False
    has_losses: bool = False

    def put(self, time_s: float, name: str, unit: str, value: float) -> None:
        self.rows.append((round(time_s * 1e9), self.number, name, unit, value))

    def put_total(self, name: str, unit: str, until_s: float, total: float, key: str = "") -> None:
        """Put a counter from the begin to `until_s`, where it is `total`; between, what the intervals say of `key`.

        Intervals that add up to something else are scaled: a counter never goes back, and has no leap at its end.
        """
        assert self.first_s is not None
        self.put(self.first_s, name, unit, 0.0)
        counted = getattr(self.last, key) if key else 0.0
        factor = total / counted if counted > 0 else 0.0
        for point in self.points if key else ():
            if point.time_s < until_s:
                self.put(point.time_s, name, unit, getattr(point, key) * factor)
        self.put(until_s, name, unit, total)

    @property
    def last(self) -> _Point:
        return self.points[-1]


def read(request: ImportRequest) -> ResultsDirectory:
    """Import iperf3's JSON of tests, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (file, and line where it is no JSON), or `out` is in use.
    """
    return import_traces(request, kind="iperf3", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    """Return the tests of a file; those that cannot be used are left out if another one can."""
    reports, notes = _reports(file)
    damage = f" ({'; '.join(notes)})" if notes else ""
    traces: list[Trace] = []
    problems: list[UserError] = []
    left: list[str] = []
    for number, report in enumerate(reports, 1):
        part = folder / str(number)
        part.mkdir()
        taken = [*used, *(trace.label for trace in traces)]
        label = label_of(stem_of(file), taken, "iperf3", number if len(reports) > 1 else None)
        try:
            traces.append(_trace(label, file, part / "flows.parquet", report.content))
        except UserError as error:
            problems.append(error)
            reason = str(error).removeprefix(f"{file}: ")
            left.append(f"the report in line {report.line} is left out: {reason}")
    if not traces:
        raise UserError(f"{problems[0]}{damage}")
    if left:
        notes.append(left[0] + _more(len(left) - 1))
    return [replace(traces[0], notes=(*traces[0].notes, *notes)), *traces[1:]]


def _trace(label: str, file: Path, samples: Path, report: Mapping[str, object]) -> Trace:
    problem = report.get("error")
    start, intervals, end = report.get("start"), report.get("intervals"), report.get("end")
    if problem and not intervals:
        raise UserError(f"{file}: iperf3 says: {one_line(ValueError(str(problem)))}")
    is_cut = end is None and bool(intervals)
    if is_cut:
        end = {}
    if not (isinstance(start, dict) and isinstance(intervals, list) and isinstance(end, dict)):
        raise UserError(f"{file}: is no report of iperf3: needed are the keys start, intervals and end")
    try:
        test = cast("_Start", start)
        trace, rows = _measured(label, file, samples, test, intervals, cast("_End", end))
        notes = list(trace.notes)
        if problem or is_cut:
            said = f"iperf3 says: {one_line(ValueError(str(problem)))}" if problem else "the report has no end"
            planned = _number(test["test_start"], "duration", 0)
            of = f" of {planned:g} s" if planned > 0 else " s"
            notes.append(f"{said}: {trace.last_s:g}{of} were measured")
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what iperf3 writes: {one_line(error)}") from None
    core.write_samples(str(samples), rows)
    return replace(trace, notes=tuple(notes))


def _reports(file: Path) -> tuple[list[_Report], list[str]]:
    """Return the reports of a file, each test once, and notes of what else is in it.

    Raises:
        UserError: there is none.
    """
    text = read_log(file)
    is_stream = '"event"' in text[:1000]
    found: list[_Report] = []
    notes: list[str] = []
    current: _Report | None = None
    damaged: list[BadJson] = []
    intervals: list[object] = []
    others: list[str] = []
    try:
        for part in json_parts(text, _MOST_STREAMED_VALUES if is_stream else _MOST_VALUES):
            if part.is_text:
                quoted = one_line(ValueError((part.problem or "")[:_MOST_QUOTED]))
                others.append(f"line {part.line} (`{quoted}`)")
                continue
            if part.problem is not None:
                damaged.append(BadJson(part.line, part.problem))
                continue
            for value in part.value if isinstance(part.value, list) and part.value else [part.value]:
                if not isinstance(value, dict):
                    damaged.append(BadJson(part.line, "is no JSON object"))
                elif "event" in value and "data" in value:
                    name = str(value["event"])
                    if current is None or name == "start":
                        intervals = []
                        current = _Report(part.line, {"intervals": intervals})
                        found.append(current)
                    if name == "interval":
                        intervals.append(value["data"])
                    else:
                        current.content[name] = value["data"]
                else:
                    found.append(_Report(part.line, value))
                if len(found) > _MOST_REPORTS:
                    raise BadJson(part.line, f"has more than {_MOST_REPORTS} reports")
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    if not found:
        problem = next(iter(damaged), BadJson(1, "is no JSON: needed is a report of iperf3 (`iperf3 -J`)"))
        raise UserError(f"{file}:{problem.line}: {problem.reason}")
    if damaged:
        first = f"what is damaged at line {damaged[0].line} is left out: {damaged[0].reason}"
        notes.append(first + _more(len(damaged) - 1))
    if others:
        notes.append(f"what is no JSON is left out: {others[0]}{_more(len(others) - 1)}")
    return _once_each(found, notes), notes


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _once_each(found: list[_Report], notes: list[str]) -> list[_Report]:
    """Return the reports without those of a test that is there already; notes say which."""
    kept: dict[tuple[str, bool], _Report] = {}
    again = []
    for report in found:
        first = kept.setdefault(report.test, report)
        if first is report:
            continue
        again.append(f"the reports in lines {first.line} and {report.line} are of the same test, which counts once")
        if report.has_end and not first.has_end:
            kept[report.test] = report
    if again:
        notes.append(again[0] + _more(len(again) - 1))
    return list(kept.values())


def _measured(
    label: str, file: Path, samples: Path, start: _Start, intervals: list[_Interval], end: _End
) -> tuple[Trace, list[Row]]:
    """Return the trace of a report, and the samples that belong into its file."""
    if len(start["connected"]) > MOST_STREAMS:
        raise UserError(f"{file}: has {len(start['connected'])} streams: allowed are {MOST_STREAMS}")
    test = start["test_start"]
    protocol = str(test["protocol"])
    is_reverse = bool(test.get("reverse", 0))
    # before 3.2 intervals do not say who sent
    is_sender = is_reverse if "accepted_connection" in start else not is_reverse
    streams = {socket["socket"]: _Stream(number, is_sender) for number, socket in enumerate(start["connected"], 1)}
    for interval in intervals:
        for part in interval["streams"]:
            if part["socket"] in streams:
                _interval(streams[part["socket"]], part)
    alive = {socket: stream for socket, stream in streams.items() if stream.points}
    if not alive:
        raise UserError(f"{file}: has no interval of any stream: nothing to import")
    notes = list(_ends(alive, end, protocol))
    rows = sorted(row for stream in alive.values() for row in stream.rows)
    parts = end.get("streams") or []
    facts = {
        "protocol": protocol,
        "streams": len(streams),
        "reverse": is_reverse,
        "bidirectional": bool(test.get("bidir", 0)),
        "version": start.get("version"),
        "sender_tcp_congestion": end.get("sender_tcp_congestion"),
        "receiver_tcp_congestion": end.get("receiver_tcp_congestion"),
        "streams_udp": [part["udp"] for part in parts if "udp" in part],
    }
    trace = Trace(
        label=label,
        source=file.name,
        flows=tuple(TracedFlow(stream.number, stream.first_s, stream.stop_s) for stream in alive.values()),
        samples=samples,
        last_s=max(stream.stop_s for stream in alive.values()),
        events=len(rows),
        tells=UNTOLD,
        facts=facts,
        notes=tuple(notes),
        started=_started(file, start),
    )
    return trace, rows


def _started(file: Path, start: _Start) -> datetime | None:
    """When the test began, if it says so."""
    seconds = (start.get("timestamp") or {}).get("timesecs")
    return started_at(file, float(seconds)) if seconds else None


def _number(part: Part, key: str, otherwise: float | None = None, *, least: float = -_MOST) -> float:
    """A value of iperf3's.

    Raises:
        KeyError, TypeError, ValueError: there is none, or it is no number, or out of bounds.
    """
    stated = part[key] if otherwise is None else part.get(key, otherwise)
    value = float(cast("float", stated))  # or TypeError
    if not least <= value <= _MOST:  # nor is what is not a number
        raise ValueError(f"`{key}` = {value:g}: allowed are numbers from {least:g} to {_MOST:g}")
    return value


def _interval(stream: _Stream, part: Part) -> None:
    """Take in one line of a stream: values at its end, totals since the beginning."""
    if part.get("omitted", False):
        stream.omitted = True
        return
    begin_s, end_s = _number(part, "start"), _number(part, "end")
    if not 0.0 <= begin_s <= end_s < 1e9:
        raise ValueError(f"an interval from {begin_s} to {end_s} s")
    stream.sender = bool(part.get("sender", stream.sender))
    if stream.first_s is None:
        # after what is omitted iperf3 counts from zero, but mostly states the end of that as the first begin
        stream.first_s = 0.0 if stream.omitted else begin_s
    stream.has_retransmissions |= "retransmits" in part
    stream.has_losses |= "lost_packets" in part
    before = stream.last if stream.points else _Point(0.0, 0.0, 0.0, 0.0, 0.0)
    point = _Point(
        time_s=max(before.time_s, end_s),
        bytes=before.bytes + _number(part, "bytes", least=0.0),
        retransmissions=before.retransmissions + _number(part, "retransmits", 0),
        packets=before.packets + _number(part, "packets", 0, least=0.0),
        lost=before.lost + _number(part, "lost_packets", 0),
    )
    stream.points.append(point)
    stream.stop_s = point.time_s
    for key, name, unit, factor in (
        ("rtt", "srtt", "ms", 1e-3),
        ("rttvar", "rttvar", "ms", 1e-3),
        ("snd_cwnd", "window", "bytes", 1.0),
        ("jitter_ms", "jitter", "ms", 1.0),
    ):
        # what iperf3 cannot ask for it writes as zero
        if (value := _number(part, key, 0)) > 0:
            stream.put(end_s, name, unit, value * factor)


def _ends(streams: dict[int, _Stream], end: _End, protocol: str) -> Iterator[str]:
    """Put the totals of all streams, those that the end states first; yield what to know of them."""
    parts = end.get("streams") or []
    stated: dict[object, _EndOfStream] = {}
    for part in parts:
        socket = (part.get("udp") or part.get("sender") or part.get("receiver") or {}).get("socket")
        if socket in streams:
            stated[socket] = part
    if len(streams) == 1 and not stated and "sum_sent" in end:
        stated = {socket: {"sender": end["sum_sent"], "receiver": end.get("sum_received")} for socket in streams}
    unreported = 0
    for socket, stream in streams.items():
        part = stated.get(socket) or {}
        yield from _udp(stream, part["udp"], end, len(streams)) if "udp" in part else _tcp(stream, part)
        unreported += not any(row[2] == "delivered" for row in stream.rows)
    if unreported:
        yield f"{unreported} of {len(streams)} streams end without the receiver's report: what arrived is not known"
    if any(stream.omitted for stream in streams.values()):
        yield "what iperf3 omitted at the beginning (-O) does not count"
    if any(stream.sender for stream in streams.values()):
        yield f"written by the sender of the data ({protocol}): intervals are of what it handed to the kernel"
    else:
        yield f"written by the receiver of the data ({protocol})"


def _tcp(stream: _Stream, part: _EndOfStream) -> Iterator[str]:
    """Put the totals of a stream whose end is in `part`."""
    sent, received = part.get("sender") or {}, part.get("receiver") or {}
    own = sent if stream.sender else received
    total = _number(own, "bytes", 0, least=0.0) or stream.last.bytes
    yield from _difference(stream, "bytes", stream.last.bytes, total)
    stream.put_total("transferred", "bytes", stream.last.time_s, total, "bytes")
    if stream.sender and (arrived := _number(received, "bytes", 0, least=0.0)) > 0:
        _deliver(stream, arrived, received)
    elif not stream.sender:
        _deliver(stream, total, own, "bytes")
    counted = stream.last.retransmissions
    retransmissions = _number(sent, "retransmits", -1)  # -1 is what iperf3 writes of systems that do not count
    if retransmissions >= 0 or stream.has_retransmissions:
        total = retransmissions if retransmissions >= 0 else counted
        if stream.has_retransmissions:
            yield from _difference(stream, "retransmissions", counted, total)
        key = "retransmissions" if stream.has_retransmissions else ""
        stream.put_total("retransmissions", "packets", stream.last.time_s, total, key)
    if stream.has_losses:
        _lose(stream, stream.last.packets, stream.last.lost)


def _udp(stream: _Stream, udp: Part, end: _End, streams: int) -> Iterator[str]:
    """Put the totals of a stream of UDP, whose end is the receiver's report of packets."""
    stream.put_total("transferred", "bytes", stream.last.time_s, stream.last.bytes, "bytes")
    received = end.get("sum_received") or {} if streams == 1 else {}
    arrived = _number(received, "bytes", 0, least=0.0)
    packets = _number(udp, "packets", 0)
    if packets > 0 and "lost_packets" in udp:
        lost = _number(udp, "lost_packets")
        if lost > packets:
            raise ValueError(f"`lost_packets` = {lost:g}: allowed are at most the {packets:g} that were sent")
        if stream.has_losses:
            yield from _difference(stream, "packets", stream.last.packets, packets)
        _lose(stream, packets, lost)
        arrived = arrived or _number(udp, "bytes") * (1.0 - lost / packets)
        if stream.sender:
            _deliver(stream, arrived, received)
    elif stream.has_losses:
        _lose(stream, stream.last.packets, stream.last.lost)
    if not stream.sender:
        total = arrived or stream.last.bytes
        yield from _difference(stream, "bytes", stream.last.bytes, total)
        _deliver(stream, total, received, "bytes")


def _deliver(stream: _Stream, total: float, stated: Part, key: str = "") -> None:
    """Put the bytes that arrived in the time that the receiver states; without it that of the intervals."""
    assert stream.first_s is not None
    until_s = stream.last.time_s
    # up to 3.9 and later `seconds` is the sender's: the receiver's are from start to end
    length_s = _number(stated, "end", 0) - _number(stated, "start", 0)
    if 0.0 < length_s < 1e9:
        until_s = stream.first_s + length_s
    stream.stop_s = max(stream.stop_s, until_s)
    stream.put_total("delivered", "bytes", until_s, total, key)


def _lose(stream: _Stream, packets: float, lost: float) -> None:
    stream.put_total("sent", "packets", stream.last.time_s, packets, "packets" if stream.has_losses else "")
    stream.put_total("lost", "packets", stream.last.time_s, lost, "lost" if stream.has_losses else "")


def _difference(stream: _Stream, what: str, counted: float, stated: float) -> Iterator[str]:
    if abs(counted - stated) > _LEAST_DIFFERENCE * max(counted, stated):
        yield (
            f"stream {stream.number}: its intervals add up to {counted:.0f} {what}, its end states {stated:.0f}, "
            "which counts"
        )
