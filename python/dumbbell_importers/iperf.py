"""Importer of iperf2 and iperf3 text and of iperf2 CSV: rates, retransmissions, window, RTT, UDP losses.

Numbers are printed with three digits. As for iperf3's JSON, the receiver's report counts as the arrivals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError
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
from dumbbell.results.analysis.findings.words import counted
from dumbbell_importers.stamps import stamp_behind, stamp_in_front

NOTES = """\
Imported from what iperf2 or iperf3 prints for people: totals of intervals, with three digits. There are no packets in
it, so there is no one-way delay; what the path carried besides payload is not known either.
"""
SUFFIXES = (".txt", ".log", ".out", ".csv")
_MOST_STREAMS = 256
_MOST = 2.0**53
"""Maximum value. Up to it, a float represents every whole number exactly."""
_LEAST_FIT = 0.02
"""Maximum error of a printed duration, as a fraction of the interval. Beyond it, bytes divided by rate are used."""
_MOST_APART = 0.05
"""Maximum difference of a total from the sum of its intervals without a note, as a fraction."""
_DEFAULT_PORT = "5001"
_STREAM = r"\[\s*\*?\s*(?P<id>\d+)\](?:\[(?P<role>[TR]X)-[CS]\])?\s+"
_NUMBER = r"\d+(?:\.\d+)?"
_INTERVAL = re.compile(
    rf"{_STREAM}(?P<begin>{_NUMBER})\s*-\s*(?P<end>{_NUMBER})\s+sec\s+(?P<bytes>{_NUMBER})\s+(?P<unit>[KMGT]?)Bytes\s+"
    rf"(?P<rate>{_NUMBER})\s+(?P<rate_unit>[KMGT]?)(?P<of>bits|Bytes)/sec(?P<rest>.*)$"
)
_CONNECTED = re.compile(
    rf"{_STREAM}local \S+ port (?P<local>\d+) connected (?:with|to) \S+ port (?P<remote>\d+)(?P<rest>.*)$"
)
_ROLE_HEADER = re.compile(
    r"(?P<client>Client connecting to|Connecting to host)|(?P<server>Server listening on|Accepted connection from)"
)
_PORT = re.compile(r"(?P<protocol>TCP|UDP) port (?P<port>\d+)|, port (?P<other>\d+)")
_CWND3 = re.compile(rf"^\s+(?P<resent>\d+)(?:\s+(?P<window>{_NUMBER})\s+(?P<unit>[KMGT]?)Bytes)?\s*(?:sender)?\s*$")
_CWND2 = re.compile(r"^\s+\d+/\d+\s+(?P<resent>\d+)(?:\s+(?P<window>NA|-?\d+)K?/(?P<rtt>\d+)(?:\((?P<var>\d+)\))? us)?")
_LOSS = re.compile(rf"^\s+(?P<jitter>{_NUMBER})\s+ms\s+(?P<lost>-?\d+)/\s*(?P<sent>\d+)(?:\s|$)")
_CSV = re.compile(
    r"^(?P<at>\d{14})(?:\.\d+)?,[^,]+,(?P<local>\d+),[^,]+,(?P<remote>\d+),(?P<id>-?\d+),"
    rf"(?P<begin>{_NUMBER})-(?P<end>{_NUMBER}),(?P<bytes>\d+),(?P<rate>\d+)"
    rf"(?:,(?P<jitter>{_NUMBER}),(?P<lost>-?\d+),(?P<sent>\d+)[^,]*,.*)?$"
)
_BINARY = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
_DECIMAL = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


@dataclass
class _Interval:
    """Line of output: an interval or a total."""

    line: int
    begin_s: float
    end_s: float
    bytes: float
    rate_bps: float
    resent: float | None = None
    window_bytes: float | None = None
    srtt_ms: float | None = None
    rttvar_ms: float | None = None
    jitter_ms: float | None = None
    lost_packets: float | None = None
    sent_packets: float | None = None

    @property
    def lasts_s(self) -> float:
        """Length, s. iperf2 prints 0.1 s at best, so bytes divided by rate are more exact."""
        printed_s = self.end_s - self.begin_s
        better = self.bytes * 8.0 / self.rate_bps if self.rate_bps else printed_s
        return better if abs(better - printed_s) <= max(_LEAST_FIT * printed_s, 0.05) and printed_s else printed_s


@dataclass
class _Stream:
    """Stream of a test."""

    name: str
    offset_s: float = 0.0
    sends: bool | None = None
    """True if the printing end sent the data; None if unknown."""
    intervals: list[_Interval] = field(default_factory=list)
    total: _Interval | None = None
    """Total that does not name its end."""
    sender: _Interval | None = None
    receiver: _Interval | None = None

    @property
    def is_over(self) -> bool:
        """Return True if a total was printed."""
        return any(line is not None for line in (self.total, self.sender, self.receiver))

    @property
    def lines(self) -> list[_Interval]:
        """All printed lines of the stream."""
        return [*self.intervals, *(line for line in (self.total, self.sender, self.receiver) if line is not None)]

    @property
    def begin_s(self) -> float:
        """Start of the first line, s."""
        return self.lines[0].begin_s

    @property
    def end_s(self) -> float:
        """Latest end of the lines, s after the start of the test."""
        return self.offset_s + max(line.end_s for line in self.lines)


@dataclass
class _Test:
    """Test in a file."""

    line: int
    streams: dict[str, _Stream] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    is_client: bool | None = None
    is_reverse: bool = False
    protocol: str | None = None
    ports: set[tuple[str, bool]] = field(default_factory=set)
    """Ports in the text, each with True if this end connected to it, False if it listened."""
    began_s: float | None = None
    """Start of the test, s after 1970 by a clock without zone, if each line has its time."""
    version: int = 2
    start: datetime | None = None
    problem: str | None = None
    reported_streams: set[str] = field(default_factory=set)
    """Streams whose next line is the server's report."""


def read(request: ImportRequest) -> ResultsDirectory:
    """Import the text or CSV of iperf2 or the text of iperf3, or all in a directory.

    Raises:
        UserError: If there is none, none can be read (with file and line), or `out` is in use.
    """
    return import_traces(request, kind="iperf", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    tests = _Reader(file).parse(read_log(file))
    usable = [test for test in tests if any(stream.lines for stream in test.streams.values())]
    if not usable:
        problem = next((test.problem for test in tests if test.problem), None)
        if problem:
            raise UserError(f"{file}: iperf says: {problem}")
        raise UserError(
            f"{file}: there is no line of an interval of iperf in it, as `[  5]   0.00-1.00   sec  1.10 MBytes  9.23 "
            "Mbits/sec` (JSON of iperf3: `dumbbell import iperf3`)"
        )
    earlier_lines: list[list[str]] = []
    traces: list[Trace] = []
    repetitions = 0
    for test in usable:
        if test.lines in earlier_lines:
            repetitions += 1
            continue
        earlier_lines.append(test.lines)
        number = len(traces) + 1 if len(usable) > 1 else None
        label = label_of(stem_of(file), [*used, *(trace.label for trace in traces)], "iperf", number)
        traces.append(_trace(label, file, test, folder / f"flows-{len(traces)}"))
    if repetitions:
        note = f"left out: {counted(repetitions, 'test')} that the file has twice"
        traces[0] = replace(traces[0], notes=(*traces[0].notes, note))
    return traces


def _trace(label: str, file: Path, test: _Test, folder: Path) -> Trace:
    streams = [stream for stream in test.streams.values() if stream.lines]
    if len(streams) > _MOST_STREAMS:
        raise UserError(f"{file}:{test.line}: has {len(streams)} streams: allowed are {_MOST_STREAMS}")
    rows: list[Row] = []
    flows: list[TracedFlow] = []
    for number, stream in enumerate(streams, 1):
        _settle(test, stream)
        stream_rows = list(_samples(stream, number))
        rows += stream_rows
        flows.append(
            TracedFlow(number, stream.offset_s + stream.begin_s, max(time_ns for time_ns, *_ in stream_rows) / 1e9)
        )
    rows.sort()
    folder.mkdir()
    samples = folder / "flows.parquet"
    core.write_samples(str(samples), rows)
    if test.start is not None:
        started_at(file, test.start.timestamp())
    return Trace(
        label=label,
        source=file.name,
        flows=tuple(flows),
        samples=samples,
        last_s=max(flow.stop_s or 0.0 for flow in flows),
        events=len(rows),
        tells=UNTOLD,
        facts={
            "tool": f"iperf{test.version}",
            "protocol": test.protocol or "TCP",
            "streams": len(streams),
            "reverse": test.is_reverse,
            "bidirectional": {True, False} <= {stream.sends for stream in streams},
        },
        notes=(*_notes(test, streams),),
        start_time=test.start,
    )


class _Reader:
    """Reader of iperf's output: makes a `_Test` from the lines of each test."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tests = [_Test(1)]

    def parse(self, text: str) -> list[_Test]:
        """Return the tests in a text."""
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self._line(number, line)
            except ValueError as error:
                raise UserError(f"{self.file}:{number}: {error}") from None
        return self.tests

    def _line(self, number: int, line: str) -> None:
        if match := _INTERVAL.search(line):
            self._interval(number, line, match)
        elif match := _CSV.match(line):
            self._values(number, line, match)
        elif match := _CONNECTED.search(line):
            self._connected(number, match)
        else:
            self._header(number, line)

    def _begin(self, number: int, *, keep: bool = False) -> _Test:
        """Return the test that a header belongs to: a new one if the last test has lines."""
        test = self.tests[-1]
        if any(stream.lines for stream in test.streams.values()):
            before, test = test, _Test(number)
            if keep:
                test.is_client, test.protocol, test.version = before.is_client, before.protocol, before.version
                test.ports, test.is_reverse = before.ports, before.is_reverse
            self.tests.append(test)
        return test

    def _header(self, number: int, line: str) -> None:
        if match := _ROLE_HEADER.search(line):
            test = self._begin(number)
            test.version = 3 if "host" in match[0] or "Accepted" in match[0] or "(test #" in line else 2
            is_client = bool(match["client"])
            # Tests of both directions have both headers. Their streams are identified by ports.
            test.is_client = is_client if test.is_client in (None, is_client) or test.version == 3 else None
            if port := _PORT.search(line):
                test.protocol = port["protocol"] or test.protocol
                test.ports.add((port["port"] or port["other"], is_client))
            return
        test = self.tests[-1]
        if "Reverse mode" in line:
            test.is_reverse = True
        elif line.startswith("Time:") and test.start is None:
            try:
                stamp, _ = stamp_in_front(line)
            except ValueError:
                return
            if stamp is not None and stamp.is_dated and not stamp.zone:
                test.start = started_at(self.file, stamp.seconds)
        elif "Total Datagrams" in line or "Lost/Total Datagrams" in line:
            test.protocol = "UDP"
        elif "Bitrate" in line or "Retr  Cwnd" in line:
            test.version = 3
        elif (match := re.match(rf"{_STREAM}Server Report", line)) is not None:
            test.reported_streams.add(match["id"])
        elif "error - " in line or "connect failed" in line:
            test.problem = line.strip()[:200]

    def _connected(self, number: int, match: re.Match[str]) -> None:
        test = self.tests[-1]
        streams = list(test.streams.values())
        streams_with_lines = [stream for stream in streams if stream.lines]
        stream = test.streams.get(self._key(match))
        is_again = stream is not None and bool(stream.lines)
        # Without intervals the only line of a stream is its total.
        are_over = len(streams_with_lines) == len(streams) and all(
            stream.is_over or len(stream.lines) == 1 for stream in streams_with_lines
        )
        if is_again or (streams_with_lines and are_over):
            test, streams_with_lines = self._begin(number, keep=True), []
        sends = None
        if test.version == 2:
            sends = True if (match["remote"], True) in test.ports else sends
            sends = False if (match["local"], False) in test.ports and sends is None else sends
            sends = not sends if sends is not None and "(reverse)" in match["rest"] else sends
        offset_s = max((line.end_s for line in streams_with_lines), default=0.0)
        test.streams[self._key(match)] = _Stream(match["id"], offset_s, sends)

    @staticmethod
    def _key(match: re.Match[str]) -> str:
        return f"{match['id']}{match['role'] or ''}"

    def _interval(self, number: int, line: str, match: re.Match[str]) -> None:
        rest = match["rest"]
        if "(omitted)" in rest:
            return
        scale = _DECIMAL if match["of"] == "bits" else _BINARY
        interval = _Interval(
            number,
            float(match["begin"]),
            float(match["end"]),
            float(match["bytes"]) * _BINARY[match["unit"]],
            float(match["rate"]) * scale[match["rate_unit"]] * (1.0 if match["of"] == "bits" else 8.0),
        )
        if loss := _LOSS.match(rest):
            interval.jitter_ms, interval.lost_packets, interval.sent_packets = (
                float(loss["jitter"]),
                float(loss["lost"]),
                float(loss["sent"]),
            )
        elif cwnd_match := _CWND2.match(rest):
            interval.resent = float(cwnd_match["resent"])
            if (window := cwnd_match["window"]) not in (None, "NA") and float(window) > 0:
                interval.window_bytes = float(window) * 2**10
            if cwnd_match["rtt"]:
                interval.srtt_ms = float(cwnd_match["rtt"]) / 1e3
            if cwnd_match["var"]:
                interval.rttvar_ms = float(cwnd_match["var"]) / 1e3
        elif (counts := _CWND3.match(rest)) and self.tests[-1].protocol != "UDP":
            interval.resent = float(counts["resent"])
            if counts["window"]:
                interval.window_bytes = float(counts["window"]) * _BINARY[counts["unit"]]
        last = rest.split()[-1] if rest.split() else ""
        self._put(number, line, self._key(match), match["role"], interval, last)

    def _values(self, number: int, line: str, match: re.Match[str]) -> None:
        """Read a line of comma-separated values (`iperf -y C`). Its ports identify the printing end."""
        if int(match["id"]) < 0:
            return
        interval = _Interval(
            number, float(match["begin"]), float(match["end"]), float(match["bytes"]), float(match["rate"])
        )
        if match["sent"]:
            interval.jitter_ms, interval.lost_packets, interval.sent_packets = (
                float(match["jitter"]),
                float(match["lost"]),
                float(match["sent"]),
            )
        key = f"{match['id']} {match['local']} {match['remote']}"
        stamp = stamp_behind(match["at"])
        began_s = (stamp.seconds if stamp else 0.0) - interval.end_s
        test = self.tests[-1]
        if key not in test.streams:
            if test.began_s is not None and began_s + 1.0 > test.began_s + max(
                earlier.end_s for earlier in test.streams.values()
            ):
                test = self._begin(number)
            test.began_s = began_s if test.began_s is None else test.began_s
            ports = (match["remote"] == _DEFAULT_PORT, match["local"] == _DEFAULT_PORT)
            sends = ports[0] if any(ports) and not all(ports) else None
            later_s = began_s - test.began_s
            test.streams[key] = _Stream(match["id"], later_s if later_s > 1.0 else 0.0, sends)
        self._put(number, line, key, None, interval, "")

    def _put(self, number: int, line: str, key: str, role: str | None, interval: _Interval, last: str) -> None:
        if (
            not 0.0 <= interval.begin_s <= interval.end_s < 1e9
            or max(interval.bytes, interval.rate_bps, interval.resent or 0.0) > _MOST
        ):
            raise ValueError(f"is out of bounds: allowed are times up to 1e9 s and values to {_MOST:g}")
        test = self.tests[-1]
        stream = test.streams.get(key)
        is_report = last in ("sender", "receiver") or key in test.reported_streams
        if stream is not None and stream.lines and not is_report and interval.begin_s == stream.begin_s:
            is_total = bool(stream.intervals) and interval.end_s > stream.intervals[-1].begin_s
            if stream.is_over or not is_total:
                # Another test with an equal number, for example in a file without its headers.
                test, stream = self._begin(number, keep=True), None
        if stream is None:
            stream = test.streams[key] = _Stream(key)
        test.lines.append(line.strip())
        if role is not None:
            stream.sends = role == "TX"
        if last in ("sender", "receiver"):
            test.version = 3
            if last == "receiver":
                stream.receiver = interval
            elif interval.bytes or stream.sends or not stream.intervals:
                # Servers of old versions print a total of zero for the sender, which they do not know.
                stream.sender = interval
        elif key in test.reported_streams:
            test.reported_streams.discard(key)
            stream.receiver = interval
        elif stream.intervals and interval.begin_s == stream.begin_s:
            stream.total = interval
        elif stream.intervals and interval.begin_s < stream.intervals[-1].end_s - 0.01:
            raise ValueError(f"the time goes back to {interval.begin_s:g} s")
        else:
            stream.intervals.append(interval)


def _settle(test: _Test, stream: _Stream) -> None:
    """Determine which end printed a stream, and which end its total describes."""
    stream.sends = _sends(test, stream)
    total, stream.total = stream.total, None
    if total is None and len(stream.intervals) == 1 and not stream.is_over:
        total = stream.intervals[0]
    if total is None:
        return
    if test.version == 3 and stream.sends and total.sent_packets and total.lost_packets is not None:
        # Before iperf3 3.2: bytes as the sender counts them, losses as the receiver does.
        part = max(1.0 - total.lost_packets / total.sent_packets, 0.0)
        stream.receiver = replace(total, bytes=total.bytes * part, rate_bps=total.rate_bps * part)
        stream.sender = total
    elif stream.sends is False:
        stream.receiver = total
    elif total is not stream.intervals[0]:
        stream.sender = total
    if stream.receiver is not None and stream.receiver.bytes == 0.0 and len(stream.intervals) > 1:
        # Servers before iperf3 3.2 print a total of zero for UDP.
        stream.receiver = None


def _sends(test: _Test, stream: _Stream) -> bool | None:
    """Return True if the printing end sent the data of a stream, None if unknown."""
    if stream.sends is not None:
        return stream.sends
    if any(interval.resent is not None for interval in stream.intervals):
        return True  # only a sender knows
    if test.is_client is not None:
        return test.is_client != test.is_reverse
    if any(
        interval.sent_packets is not None for interval in [*stream.intervals, *([stream.total] if stream.total else [])]
    ):
        return False  # only a receiver knows what was lost
    return None


def _samples(stream: _Stream, number: int) -> Iterator[Row]:
    """Yield the samples of a stream over time, and its totals at its end."""

    def row(at_s: float, name: str, unit: str, value: float) -> Row:
        return round((stream.offset_s + at_s) * 1e9), number, name, unit, value

    begin_s = stream.begin_s
    receives = stream.sends is False
    total = resent = sent_packets = lost_packets = 0.0
    yield row(begin_s, "transferred", "bytes", 0.0)
    for interval in stream.intervals:
        total += interval.bytes
        yield row(interval.end_s, "transferred", "bytes", total)
        resent += interval.resent or 0.0
        if interval.resent is not None:
            yield row(interval.end_s, "retransmissions", "packets", resent)
        for name, unit, value in (
            ("window", "bytes", interval.window_bytes),
            ("srtt", "ms", interval.srtt_ms),
            ("rttvar", "ms", interval.rttvar_ms),
            ("jitter", "ms", interval.jitter_ms),
        ):
            if value:
                yield row(interval.end_s, name, unit, value)
        if interval.sent_packets is not None and interval.lost_packets is not None:
            sent_packets, lost_packets = sent_packets + interval.sent_packets, lost_packets + interval.lost_packets
    if stream.sender is not None and stream.sender.resent is not None:
        resent = stream.sender.resent
    if ends := [interval.end_s for interval in stream.lines if interval.resent is not None]:
        yield row(begin_s, "retransmissions", "packets", 0.0)
        yield row(max(ends), "retransmissions", "packets", resent)
    end_total = stream.receiver
    if end_total is None and receives and stream.intervals:
        last = stream.intervals[-1]
        seconds = sum(interval.lasts_s for interval in stream.intervals)
        end_total = _Interval(last.line, begin_s, begin_s + seconds, total, total * 8.0 / seconds if seconds else 0.0)
        if sent_packets:
            end_total.sent_packets, end_total.lost_packets = sent_packets, lost_packets
    if end_total is None:
        return
    so_far = 0.0
    yield row(begin_s, "delivered", "bytes", 0.0)
    end_s = begin_s + end_total.lasts_s
    for interval in stream.intervals if receives else []:
        so_far += interval.bytes
        if interval.end_s < end_s:
            yield row(interval.end_s, "delivered", "bytes", min(so_far, end_total.bytes))
    yield row(end_s, "delivered", "bytes", end_total.bytes)
    if (
        end_total.sent_packets is not None
        and end_total.lost_packets is not None
        and 0.0 <= end_total.lost_packets <= end_total.sent_packets
    ):
        for name, value in (("sent", end_total.sent_packets), ("lost", end_total.lost_packets)):
            yield row(begin_s, name, "packets", 0.0)
            yield row(end_s, name, "packets", value)


def _notes(test: _Test, streams: list[_Stream]) -> Iterator[str]:
    """Yield notes on a test."""
    unknown: list[str] = []
    senders: list[str] = []
    apart: list[str] = []
    ends = {True: 0, False: 0}
    for number, stream in enumerate(streams, 1):
        if stream.sends is not None:
            ends[stream.sends] += 1
        sum_bytes = sum(interval.bytes for interval in stream.intervals)
        if (
            stream.sends is False
            and stream.receiver
            and abs(stream.receiver.bytes - sum_bytes) > _MOST_APART * sum_bytes > 0
        ):
            apart.append(f"{number} ({sum_bytes / 1e6:.4g} instead of {stream.receiver.bytes / 1e6:.4g} MB)")
        if stream.receiver is None and stream.sends is not False:
            total = stream.sender or _Interval(
                0,
                stream.intervals[0].begin_s,
                stream.intervals[-1].end_s,
                sum_bytes,
                0.0,
            )
            rate_mbps = (total.rate_bps or total.bytes * 8.0 / (total.lasts_s or 1.0)) / 1e6
            (unknown if stream.sends is None else senders).append(
                f"{number} ({total.bytes / 1e6:.4g} MB in {total.lasts_s:.4g} s, {rate_mbps:.4g} Mbit/s)"
            )
    if senders:
        yield (
            f"the sender alone tells what it handed to the kernel of flow {', '.join(senders)}: what arrived is not "
            "known (the text of the server tells it)"
        )
    if unknown:
        yield f"the text does not tell which end printed it, so what arrived is not known: flow {', '.join(unknown)}"
    if apart:
        yield f"intervals do not add up to the total, which goodput is of: flow {', '.join(apart)}"
    if not all(stream.is_over or len(stream.lines) == 1 for stream in streams):
        yield "cut short: there is no total at the end"
    if any(stream.offset_s for stream in streams):
        yield "streams that begin later than others do so at a time that is known to an interval"
    if ends[True] and not ends[False]:
        yield "printed by the sender of the data"
    if ends[False] and not ends[True]:
        yield "printed by the receiver of the data"
    if test.problem:
        yield f"iperf says: {test.problem}"
