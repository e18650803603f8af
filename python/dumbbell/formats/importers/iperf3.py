"""Reports of iperf3 as JSON (`-J`, `--json-stream`): rates, retransmissions, RTT, window.

The reports contain totals of intervals and no packets, so metrics of packets are absent. Totals in `end` take
precedence over sums of intervals.
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
"""Maximum number of streams: 128 in each direction of iperf3 (`-P`, `--bidir`)."""
_MOST_VALUES = 4_000_000
_MOST_STREAMED_VALUES = 10_000_000
"""Maximum number of commas in a stream of events: 128 streams have 9 million in 1.5 hours."""
_MOST_REPORTS = 1_000
_MOST = 2.0**53
"""Maximum absolute value, up to which every integer has its own floating-point number."""
_LEAST_DIFFERENCE = 0.01
"""Relative difference between the sum of intervals and the end above which a note mentions it."""
_MOST_QUOTED = 60


Part = Mapping[str, object]
"""Numbers of a stream, for an interval or for the end."""


class _Socket(TypedDict):
    socket: int


class _Start(TypedDict):
    """Facts about the test in a report. A wrong type is refused where the value is used."""

    connected: list[_Socket]
    test_start: Part
    timestamp: NotRequired[dict[str, float]]
    version: NotRequired[str]
    accepted_connection: NotRequired[object]


class _Interval(TypedDict):
    streams: list[Part]


class _EndOfStream(TypedDict, total=False):
    """Totals of a stream, by the end of the connection that counted them."""

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
    """A report of a test, with its first line number."""

    line: int
    content: dict[str, object]

    @property
    def test(self) -> tuple[str, bool]:
        """Key of the test, and True if the server wrote the report."""
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
    lost_packets: float


@dataclass
class _Stream:
    """Samples of a stream, and its totals after each interval."""

    number: int
    sender: bool
    """True if the end that wrote the report sent the data."""
    rows: list[Row] = field(default_factory=list)
    points: list[_Point] = field(default_factory=list)
    first_s: float | None = None
    stop_s: float = 0.0
    has_omitted_part: bool = False
    has_retransmissions: bool = False
    has_losses: bool = False

    def put(self, time_s: float, name: str, unit: str, value: float) -> None:
        self.rows.append((round(time_s * 1e9), self.number, name, unit, value))

    def put_total(self, name: str, unit: str, until_s: float, total: float, key: str = "") -> None:
        """Put a counter that reaches `total` at `until_s`; before, it has the values of `key` in the intervals.

        Intervals with another sum are scaled, so that the counter never decreases and has no jump at its end.
        """
        assert self.first_s is not None
        self.put(self.first_s, name, unit, 0.0)
        interval_sum = getattr(self.last, key) if key else 0.0
        factor = total / interval_sum if interval_sum > 0 else 0.0
        for point in self.points if key else ():
            if point.time_s < until_s:
                self.put(point.time_s, name, unit, getattr(point, key) * factor)
        self.put(until_s, name, unit, total)

    @property
    def last(self) -> _Point:
        return self.points[-1]


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a file with iperf3's JSON, or every such file in a directory.

    Raises:
        UserError: If there is no file, none can be read, or `out` is in use. The message has the file and line.
    """
    return import_traces(request, kind="iperf3", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    """Return the tests of a file. Unusable tests are left out if another test is usable."""
    reports, notes = _reports(file)
    damage = f" ({'; '.join(notes)})" if notes else ""
    traces: list[Trace] = []
    problems: list[UserError] = []
    left: list[str] = []
    for number, report in enumerate(reports, 1):
        part = folder / str(number)
        part.mkdir()
        labels = [*used, *(trace.label for trace in traces)]
        label = label_of(stem_of(file), labels, "iperf3", number if len(reports) > 1 else None)
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
        trace, rows = _measure(label, file, samples, test, intervals, cast("_End", end))
        notes = list(trace.notes)
        if problem or is_cut:
            problem_text = f"iperf3 says: {one_line(ValueError(str(problem)))}" if problem else "the report has no end"
            planned_s = _number(test["test_start"], "duration", 0)
            of_planned = f" of {planned_s:g} s" if planned_s > 0 else " s"
            notes.append(f"{problem_text}: {trace.last_s:g}{of_planned} were measured")
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what iperf3 writes: {one_line(error)}") from None
    core.write_samples(str(samples), rows)
    return replace(trace, notes=tuple(notes))


def _reports(file: Path) -> tuple[list[_Report], list[str]]:
    """Return the reports of a file, each test once, and notes about other content.

    Raises:
        UserError: If the file has no report.
    """
    text = read_log(file)
    is_stream = '"event"' in text[:1000]
    reports: list[_Report] = []
    notes: list[str] = []
    current: _Report | None = None
    errors: list[BadJson] = []
    intervals: list[object] = []
    other_lines: list[str] = []
    try:
        for part in json_parts(text, _MOST_STREAMED_VALUES if is_stream else _MOST_VALUES):
            if part.is_text:
                quotation = one_line(ValueError((part.problem or "")[:_MOST_QUOTED]))
                other_lines.append(f"line {part.line} (`{quotation}`)")
                continue
            if part.problem is not None:
                errors.append(BadJson(part.line, part.problem))
                continue
            for value in part.value if isinstance(part.value, list) and part.value else [part.value]:
                if not isinstance(value, dict):
                    errors.append(BadJson(part.line, "is no JSON object"))
                elif "event" in value and "data" in value:
                    name = str(value["event"])
                    if current is None or name == "start":
                        intervals = []
                        current = _Report(part.line, {"intervals": intervals})
                        reports.append(current)
                    if name == "interval":
                        intervals.append(value["data"])
                    else:
                        current.content[name] = value["data"]
                else:
                    reports.append(_Report(part.line, value))
                if len(reports) > _MOST_REPORTS:
                    raise BadJson(part.line, f"has more than {_MOST_REPORTS} reports")
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    if not reports:
        problem = next(iter(errors), BadJson(1, "is no JSON: needed is a report of iperf3 (`iperf3 -J`)"))
        raise UserError(f"{file}:{problem.line}: {problem.reason}")
    if errors:
        first = f"what is damaged at line {errors[0].line} is left out: {errors[0].reason}"
        notes.append(first + _more(len(errors) - 1))
    if other_lines:
        notes.append(f"what is no JSON is left out: {other_lines[0]}{_more(len(other_lines) - 1)}")
    return _once_each(reports, notes), notes


def _more(count: int) -> str:
    return f" and {count} more" if count else ""


def _once_each(reports: list[_Report], notes: list[str]) -> list[_Report]:
    """Return the reports without repeated tests; `notes` gets the lines of the repeated ones."""
    unique: dict[tuple[str, bool], _Report] = {}
    repeat_notes = []
    for report in reports:
        first = unique.setdefault(report.test, report)
        if first is report:
            continue
        repeat_notes.append(
            f"the reports in lines {first.line} and {report.line} are of the same test, which counts once"
        )
        if report.has_end and not first.has_end:
            unique[report.test] = report
    if repeat_notes:
        notes.append(repeat_notes[0] + _more(len(repeat_notes) - 1))
    return list(unique.values())


def _measure(
    label: str, file: Path, samples: Path, start: _Start, intervals: list[_Interval], end: _End
) -> tuple[Trace, list[Row]]:
    """Return the trace of a report, and the samples for its file."""
    if len(start["connected"]) > MOST_STREAMS:
        raise UserError(f"{file}: has {len(start['connected'])} streams: allowed are {MOST_STREAMS}")
    test = start["test_start"]
    protocol = str(test["protocol"])
    is_reverse = bool(test.get("reverse", 0))
    # before 3.2, intervals do not contain the sender
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
        start_time=_start_time(file, start),
    )
    return trace, rows


def _start_time(file: Path, start: _Start) -> datetime | None:
    """Return the start time of the test; None if unknown."""
    seconds = (start.get("timestamp") or {}).get("timesecs")
    return started_at(file, float(seconds)) if seconds else None


def _number(part: Part, key: str, otherwise: float | None = None, *, least: float = -_MOST) -> float:
    """Return a number from a part of the report.

    Raises:
        KeyError, TypeError, ValueError: If the value is missing, no number, or out of bounds.
    """
    raw_value = part[key] if otherwise is None else part.get(key, otherwise)
    value = float(cast("float", raw_value))  # may raise TypeError
    if not least <= value <= _MOST:  # False for NaN, too
        raise ValueError(f"`{key}` = {value:g}: allowed are numbers from {least:g} to {_MOST:g}")
    return value


def _interval(stream: _Stream, part: Part) -> None:
    """Add an interval of a stream: values at its end, and totals since the begin."""
    if part.get("omitted", False):
        stream.has_omitted_part = True
        return
    begin_s, end_s = _number(part, "start"), _number(part, "end")
    if not 0.0 <= begin_s <= end_s < 1e9:
        raise ValueError(f"an interval from {begin_s} to {end_s} s")
    stream.sender = bool(part.get("sender", stream.sender))
    if stream.first_s is None:
        # after an omitted part iperf3 counts from zero, but mostly gives the part's end as the first begin
        stream.first_s = 0.0 if stream.has_omitted_part else begin_s
    stream.has_retransmissions |= "retransmits" in part
    stream.has_losses |= "lost_packets" in part
    before = stream.last if stream.points else _Point(0.0, 0.0, 0.0, 0.0, 0.0)
    point = _Point(
        time_s=max(before.time_s, end_s),
        bytes=before.bytes + _number(part, "bytes", least=0.0),
        retransmissions=before.retransmissions + _number(part, "retransmits", 0),
        packets=before.packets + _number(part, "packets", 0, least=0.0),
        lost_packets=before.lost_packets + _number(part, "lost_packets", 0),
    )
    stream.points.append(point)
    stream.stop_s = point.time_s
    for key, name, unit, factor in (
        ("rtt", "srtt", "ms", 1e-3),
        ("rttvar", "rttvar", "ms", 1e-3),
        ("snd_cwnd", "window", "bytes", 1.0),
        ("jitter_ms", "jitter", "ms", 1.0),
    ):
        # iperf3 writes zero for values that it cannot obtain
        if (value := _number(part, key, 0)) > 0:
            stream.put(end_s, name, unit, value * factor)


def _ends(streams: dict[int, _Stream], end: _End, protocol: str) -> Iterator[str]:
    """Put the totals of all streams, preferably those of the end; yield notes about them."""
    parts = end.get("streams") or []
    end_of_stream: dict[object, _EndOfStream] = {}
    for part in parts:
        socket = (part.get("udp") or part.get("sender") or part.get("receiver") or {}).get("socket")
        if socket in streams:
            end_of_stream[socket] = part
    if len(streams) == 1 and not end_of_stream and "sum_sent" in end:
        end_of_stream = {socket: {"sender": end["sum_sent"], "receiver": end.get("sum_received")} for socket in streams}
    silent_count = 0
    for socket, stream in streams.items():
        part = end_of_stream.get(socket) or {}
        yield from _udp(stream, part["udp"], end, len(streams)) if "udp" in part else _tcp(stream, part)
        silent_count += not any(row[2] == "delivered" for row in stream.rows)
    if silent_count:
        yield f"{silent_count} of {len(streams)} streams end without the receiver's report: what arrived is not known"
    if any(stream.has_omitted_part for stream in streams.values()):
        yield "what iperf3 omitted at the beginning (-O) does not count"
    if any(stream.sender for stream in streams.values()):
        yield f"written by the sender of the data ({protocol}): intervals are of what it handed to the kernel"
    else:
        yield f"written by the receiver of the data ({protocol})"


def _tcp(stream: _Stream, part: _EndOfStream) -> Iterator[str]:
    """Put the totals of a TCP stream, with its end in `part`."""
    sender_part, receiver_part = part.get("sender") or {}, part.get("receiver") or {}
    own_part = sender_part if stream.sender else receiver_part
    total = _number(own_part, "bytes", 0, least=0.0) or stream.last.bytes
    yield from _difference(stream, "bytes", stream.last.bytes, total)
    stream.put_total("transferred", "bytes", stream.last.time_s, total, "bytes")
    if stream.sender and (arrived_bytes := _number(receiver_part, "bytes", 0, least=0.0)) > 0:
        _deliver(stream, arrived_bytes, receiver_part)
    elif not stream.sender:
        _deliver(stream, total, own_part, "bytes")
    counted_sum = stream.last.retransmissions
    retransmissions = _number(sender_part, "retransmits", -1)  # iperf3 writes -1 on systems that do not count
    if retransmissions >= 0 or stream.has_retransmissions:
        total = retransmissions if retransmissions >= 0 else counted_sum
        if stream.has_retransmissions:
            yield from _difference(stream, "retransmissions", counted_sum, total)
        key = "retransmissions" if stream.has_retransmissions else ""
        stream.put_total("retransmissions", "packets", stream.last.time_s, total, key)
    if stream.has_losses:
        _lose(stream, stream.last.packets, stream.last.lost_packets)


def _udp(stream: _Stream, udp: Part, end: _End, streams: int) -> Iterator[str]:
    """Put the totals of a UDP stream, whose end is the receiver's report of packets."""
    stream.put_total("transferred", "bytes", stream.last.time_s, stream.last.bytes, "bytes")
    receiver_sum = end.get("sum_received") or {} if streams == 1 else {}
    arrived_bytes = _number(receiver_sum, "bytes", 0, least=0.0)
    packets = _number(udp, "packets", 0)
    if packets > 0 and "lost_packets" in udp:
        lost_packets = _number(udp, "lost_packets")
        if lost_packets > packets:
            raise ValueError(f"`lost_packets` = {lost_packets:g}: allowed are at most the {packets:g} that were sent")
        if stream.has_losses:
            yield from _difference(stream, "packets", stream.last.packets, packets)
        _lose(stream, packets, lost_packets)
        arrived_bytes = arrived_bytes or _number(udp, "bytes") * (1.0 - lost_packets / packets)
        if stream.sender:
            _deliver(stream, arrived_bytes, receiver_sum)
    elif stream.has_losses:
        _lose(stream, stream.last.packets, stream.last.lost_packets)
    if not stream.sender:
        total = arrived_bytes or stream.last.bytes
        yield from _difference(stream, "bytes", stream.last.bytes, total)
        _deliver(stream, total, receiver_sum, "bytes")


def _deliver(stream: _Stream, total: float, receiver_part: Part, key: str = "") -> None:
    """Put the arrived bytes, over the time of the receiver; without such a time over that of the intervals."""
    assert stream.first_s is not None
    until_s = stream.last.time_s
    # `seconds` is the sender's time (3.9 and later, too); the receiver's is from start to end
    length_s = _number(receiver_part, "end", 0) - _number(receiver_part, "start", 0)
    if 0.0 < length_s < 1e9:
        until_s = stream.first_s + length_s
    stream.stop_s = max(stream.stop_s, until_s)
    stream.put_total("delivered", "bytes", until_s, total, key)


def _lose(stream: _Stream, packets: float, lost_packets: float) -> None:
    stream.put_total("sent", "packets", stream.last.time_s, packets, "packets" if stream.has_losses else "")
    stream.put_total("lost", "packets", stream.last.time_s, lost_packets, "lost_packets" if stream.has_losses else "")


def _difference(stream: _Stream, quantity: str, interval_sum: float, end_value: float) -> Iterator[str]:
    if abs(interval_sum - end_value) > _LEAST_DIFFERENCE * max(interval_sum, end_value):
        yield (
            f"stream {stream.number}: its intervals add up to {interval_sum:.0f} {quantity}, "
            f"its end states {end_value:.0f}, which counts"
        )
