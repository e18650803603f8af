"""Text of iperf2 and iperf3, CSV of iperf2: rates, retransmissions, window, RTT, losses of UDP.

Numbers are printed with three digits. As in iperf3's JSON, what arrived is what the receiver says.
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
"""Largest value: up to it every whole number is one of its own."""
_LEAST_FIT = 0.02
"""Part of an interval by which a printed duration may be wrong: printed bytes and rate then tell a better one."""
_MOST_APART = 0.05
"""Largest part by which a total may differ from the sum of its intervals without a note."""
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
    """One line: an interval or a total."""

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
    lost: float | None = None
    sent: float | None = None

    @property
    def lasts_s(self) -> float:
        """Length, s: of 0.1 s at best where iperf2 prints it, so that bytes and rate tell it better."""
        printed = self.end_s - self.begin_s
        better = self.bytes * 8.0 / self.rate_bps if self.rate_bps else printed
        return better if abs(better - printed) <= max(_LEAST_FIT * printed, 0.05) and printed else printed


@dataclass
class _Stream:
    """A stream of a test."""

    name: str
    offset_s: float = 0.0
    sends: bool | None = None
    """Whether the end that printed sent the data; None if the text does not tell."""
    intervals: list[_Interval] = field(default_factory=list)
    total: _Interval | None = None
    """A total that does not say which end it is of."""
    sender: _Interval | None = None
    receiver: _Interval | None = None

    @property
    def is_over(self) -> bool:
        """Return whether its total was printed."""
        return any(one is not None for one in (self.total, self.sender, self.receiver))

    @property
    def lines(self) -> list[_Interval]:
        """All that was printed of it."""
        return [*self.intervals, *(one for one in (self.total, self.sender, self.receiver) if one is not None)]

    @property
    def begin_s(self) -> float:
        """Begin of its first line, s."""
        return self.lines[0].begin_s

    @property
    def end_s(self) -> float:
        """Latest end of its lines, s after the test began."""
        return self.offset_s + max(one.end_s for one in self.lines)


@dataclass
class _Test:
    """One test of a file."""

    line: int
    streams: dict[str, _Stream] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    is_client: bool | None = None
    is_reverse: bool = False
    protocol: str | None = None
    ports: set[tuple[str, bool]] = field(default_factory=set)
    """Ports that were named, each with whether this end connected to it (or listened)."""
    began_s: float | None = None
    """When it began, s after 1970 by a clock without zone, where each line has its time."""
    version: int = 2
    started: datetime | None = None
    problem: str | None = None
    reported: set[str] = field(default_factory=set)
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
    seen: list[list[str]] = []
    traces: list[Trace] = []
    repeated = 0
    for test in usable:
        if test.lines in seen:
            repeated += 1
            continue
        seen.append(test.lines)
        number = len(traces) + 1 if len(usable) > 1 else None
        label = label_of(stem_of(file), [*used, *(trace.label for trace in traces)], "iperf", number)
        traces.append(_trace(label, file, test, folder / f"flows-{len(traces)}"))
    if repeated:
        note = f"left out: {counted(repeated, 'test')} that the file has twice"
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
        own = list(_samples(stream, number))
        rows += own
        flows.append(TracedFlow(number, stream.offset_s + stream.begin_s, max(time_ns for time_ns, *_ in own) / 1e9))
    rows.sort()
    folder.mkdir()
    samples = folder / "flows.parquet"
    core.write_samples(str(samples), rows)
    if test.started is not None:
        started_at(file, test.started.timestamp())
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
        started=test.started,
    )


class _Reader:
    """Reader of what iperf printed: makes a `_Test` of the lines of each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tests = [_Test(1)]

    def parse(self, text: str) -> list[_Test]:
        """Return the tests of a text."""
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self._line(number, line)
            except ValueError as error:
                raise UserError(f"{self.file}:{number}: {error}") from None
        return self.tests

    def _line(self, number: int, line: str) -> None:
        if found := _INTERVAL.search(line):
            self._interval(number, line, found)
        elif found := _CSV.match(line):
            self._values(number, line, found)
        elif found := _CONNECTED.search(line):
            self._connected(number, found)
        else:
            self._header(number, line)

    def _begin(self, number: int, *, keep: bool = False) -> _Test:
        """Return the test that a header belongs to: a new one, if the last one has lines."""
        test = self.tests[-1]
        if any(stream.lines for stream in test.streams.values()):
            before, test = test, _Test(number)
            if keep:
                test.is_client, test.protocol, test.version = before.is_client, before.protocol, before.version
                test.ports, test.is_reverse = before.ports, before.is_reverse
            self.tests.append(test)
        return test

    def _header(self, number: int, line: str) -> None:
        if found := _ROLE_HEADER.search(line):
            test = self._begin(number)
            test.version = 3 if "host" in found[0] or "Accepted" in found[0] or "(test #" in line else 2
            is_client = bool(found["client"])
            # both stand in tests of both directions, whose streams tell by their ports
            test.is_client = is_client if test.is_client in (None, is_client) or test.version == 3 else None
            if port := _PORT.search(line):
                test.protocol = port["protocol"] or test.protocol
                test.ports.add((port["port"] or port["other"], is_client))
            return
        test = self.tests[-1]
        if "Reverse mode" in line:
            test.is_reverse = True
        elif line.startswith("Time:") and test.started is None:
            try:
                stamp, _ = stamp_in_front(line)
            except ValueError:
                return
            if stamp is not None and stamp.is_dated and not stamp.zone:
                test.started = started_at(self.file, stamp.seconds)
        elif "Total Datagrams" in line or "Lost/Total Datagrams" in line:
            test.protocol = "UDP"
        elif "Bitrate" in line or "Retr  Cwnd" in line:
            test.version = 3
        elif (found := re.match(rf"{_STREAM}Server Report", line)) is not None:
            test.reported.add(found["id"])
        elif "error - " in line or "connect failed" in line:
            test.problem = line.strip()[:200]

    def _connected(self, number: int, found: re.Match[str]) -> None:
        test = self.tests[-1]
        known = list(test.streams.values())
        others = [one for one in known if one.lines]
        stream = test.streams.get(self._key(found))
        is_again = stream is not None and bool(stream.lines)
        # without intervals the only line of a stream is its total
        are_over = len(others) == len(known) and all(one.is_over or len(one.lines) == 1 for one in others)
        if is_again or (others and are_over):
            test, others = self._begin(number, keep=True), []
        sends = None
        if test.version == 2:
            sends = True if (found["remote"], True) in test.ports else sends
            sends = False if (found["local"], False) in test.ports and sends is None else sends
            sends = not sends if sends is not None and "(reverse)" in found["rest"] else sends
        offset_s = max((one.end_s for one in others), default=0.0)
        test.streams[self._key(found)] = _Stream(found["id"], offset_s, sends)

    @staticmethod
    def _key(found: re.Match[str]) -> str:
        return f"{found['id']}{found['role'] or ''}"

    def _interval(self, number: int, line: str, found: re.Match[str]) -> None:
        rest = found["rest"]
        if "(omitted)" in rest:
            return
        scale = _DECIMAL if found["of"] == "bits" else _BINARY
        one = _Interval(
            number,
            float(found["begin"]),
            float(found["end"]),
            float(found["bytes"]) * _BINARY[found["unit"]],
            float(found["rate"]) * scale[found["rate_unit"]] * (1.0 if found["of"] == "bits" else 8.0),
        )
        if loss := _LOSS.match(rest):
            one.jitter_ms, one.lost, one.sent = float(loss["jitter"]), float(loss["lost"]), float(loss["sent"])
        elif enhanced := _CWND2.match(rest):
            one.resent = float(enhanced["resent"])
            if (window := enhanced["window"]) not in (None, "NA") and float(window) > 0:
                one.window_bytes = float(window) * 2**10
            if enhanced["rtt"]:
                one.srtt_ms = float(enhanced["rtt"]) / 1e3
            if enhanced["var"]:
                one.rttvar_ms = float(enhanced["var"]) / 1e3
        elif (counts := _CWND3.match(rest)) and self.tests[-1].protocol != "UDP":
            one.resent = float(counts["resent"])
            if counts["window"]:
                one.window_bytes = float(counts["window"]) * _BINARY[counts["unit"]]
        last = rest.split()[-1] if rest.split() else ""
        self._put(number, line, self._key(found), found["role"], one, last)

    def _values(self, number: int, line: str, found: re.Match[str]) -> None:
        """Take in a line of values between commas (`iperf -y C`), whose ports tell which end printed it."""
        if int(found["id"]) < 0:
            return
        one = _Interval(number, float(found["begin"]), float(found["end"]), float(found["bytes"]), float(found["rate"]))
        if found["sent"]:
            one.jitter_ms, one.lost, one.sent = float(found["jitter"]), float(found["lost"]), float(found["sent"])
        key = f"{found['id']} {found['local']} {found['remote']}"
        stamp = stamp_behind(found["at"])
        began_s = (stamp.seconds if stamp else 0.0) - one.end_s
        test = self.tests[-1]
        if key not in test.streams:
            if test.began_s is not None and began_s + 1.0 > test.began_s + max(
                each.end_s for each in test.streams.values()
            ):
                test = self._begin(number)
            test.began_s = began_s if test.began_s is None else test.began_s
            ports = (found["remote"] == _DEFAULT_PORT, found["local"] == _DEFAULT_PORT)
            sends = ports[0] if any(ports) and not all(ports) else None
            later_s = began_s - test.began_s
            test.streams[key] = _Stream(found["id"], later_s if later_s > 1.0 else 0.0, sends)
        self._put(number, line, key, None, one, "")

    def _put(self, number: int, line: str, key: str, role: str | None, one: _Interval, last: str) -> None:
        if not 0.0 <= one.begin_s <= one.end_s < 1e9 or max(one.bytes, one.rate_bps, one.resent or 0.0) > _MOST:
            raise ValueError(f"is out of bounds: allowed are times up to 1e9 s and values to {_MOST:g}")
        test = self.tests[-1]
        stream = test.streams.get(key)
        is_report = last in ("sender", "receiver") or key in test.reported
        if stream is not None and stream.lines and not is_report and one.begin_s == stream.begin_s:
            is_total = bool(stream.intervals) and one.end_s > stream.intervals[-1].begin_s
            if stream.is_over or not is_total:
                # another test under the same number, as of a file without its headers
                test, stream = self._begin(number, keep=True), None
        if stream is None:
            stream = test.streams[key] = _Stream(key)
        test.lines.append(line.strip())
        if role is not None:
            stream.sends = role == "TX"
        if last in ("sender", "receiver"):
            test.version = 3
            if last == "receiver":
                stream.receiver = one
            elif one.bytes or stream.sends or not stream.intervals:
                # a server of old versions prints a total of zero for the sender, of which it knows nothing
                stream.sender = one
        elif key in test.reported:
            test.reported.discard(key)
            stream.receiver = one
        elif stream.intervals and one.begin_s == stream.begin_s:
            stream.total = one
        elif stream.intervals and one.begin_s < stream.intervals[-1].end_s - 0.01:
            raise ValueError(f"the time goes back to {one.begin_s:g} s")
        else:
            stream.intervals.append(one)


def _settle(test: _Test, stream: _Stream) -> None:
    """Decide which end printed a stream, and whose its total is."""
    stream.sends = _sends(test, stream)
    total, stream.total = stream.total, None
    if total is None and len(stream.intervals) == 1 and not stream.is_over:
        total = stream.intervals[0]
    if total is None:
        return
    if test.version == 3 and stream.sends and total.sent and total.lost is not None:
        # before iperf3 3.2: bytes as the sender counts them, losses as the receiver does
        part = max(1.0 - total.lost / total.sent, 0.0)
        stream.receiver = replace(total, bytes=total.bytes * part, rate_bps=total.rate_bps * part)
        stream.sender = total
    elif stream.sends is False:
        stream.receiver = total
    elif total is not stream.intervals[0]:
        stream.sender = total
    if stream.receiver is not None and stream.receiver.bytes == 0.0 and len(stream.intervals) > 1:
        # servers before iperf3 3.2 print a total of zero for UDP
        stream.receiver = None


def _sends(test: _Test, stream: _Stream) -> bool | None:
    """Return whether the end that printed sent the data of a stream, as far as it tells."""
    if stream.sends is not None:
        return stream.sends
    if any(one.resent is not None for one in stream.intervals):
        return True  # only a sender knows
    if test.is_client is not None:
        return test.is_client != test.is_reverse
    if any(one.sent is not None for one in [*stream.intervals, *([stream.total] if stream.total else [])]):
        return False  # only a receiver knows what was lost
    return None


def _samples(stream: _Stream, number: int) -> Iterator[Row]:
    """Yield what is known of a stream over time, and its totals at its end."""

    def row(at_s: float, name: str, unit: str, value: float) -> Row:
        return round((stream.offset_s + at_s) * 1e9), number, name, unit, value

    begin_s = stream.begin_s
    receives = stream.sends is False
    total = resent = sent = lost = 0.0
    yield row(begin_s, "transferred", "bytes", 0.0)
    for one in stream.intervals:
        total += one.bytes
        yield row(one.end_s, "transferred", "bytes", total)
        resent += one.resent or 0.0
        if one.resent is not None:
            yield row(one.end_s, "retransmissions", "packets", resent)
        for name, unit, value in (
            ("window", "bytes", one.window_bytes),
            ("srtt", "ms", one.srtt_ms),
            ("rttvar", "ms", one.rttvar_ms),
            ("jitter", "ms", one.jitter_ms),
        ):
            if value:
                yield row(one.end_s, name, unit, value)
        if one.sent is not None and one.lost is not None:
            sent, lost = sent + one.sent, lost + one.lost
    if stream.sender is not None and stream.sender.resent is not None:
        resent = stream.sender.resent
    if ends := [one.end_s for one in stream.lines if one.resent is not None]:
        yield row(begin_s, "retransmissions", "packets", 0.0)
        yield row(max(ends), "retransmissions", "packets", resent)
    stated = stream.receiver
    if stated is None and receives and stream.intervals:
        last = stream.intervals[-1]
        seconds = sum(one.lasts_s for one in stream.intervals)
        stated = _Interval(last.line, begin_s, begin_s + seconds, total, total * 8.0 / seconds if seconds else 0.0)
        if sent:
            stated.sent, stated.lost = sent, lost
    if stated is None:
        return
    so_far = 0.0
    yield row(begin_s, "delivered", "bytes", 0.0)
    end_s = begin_s + stated.lasts_s
    for one in stream.intervals if receives else []:
        so_far += one.bytes
        if one.end_s < end_s:
            yield row(one.end_s, "delivered", "bytes", min(so_far, stated.bytes))
    yield row(end_s, "delivered", "bytes", stated.bytes)
    if stated.sent is not None and stated.lost is not None and 0.0 <= stated.lost <= stated.sent:
        for name, value in (("sent", stated.sent), ("lost", stated.lost)):
            yield row(begin_s, name, "packets", 0.0)
            yield row(end_s, name, "packets", value)


def _notes(test: _Test, streams: list[_Stream]) -> Iterator[str]:
    """Yield what is special about a test."""
    unknown: list[str] = []
    handed: list[str] = []
    apart: list[str] = []
    ends = {True: 0, False: 0}
    for number, stream in enumerate(streams, 1):
        if stream.sends is not None:
            ends[stream.sends] += 1
        added = sum(one.bytes for one in stream.intervals)
        if stream.sends is False and stream.receiver and abs(stream.receiver.bytes - added) > _MOST_APART * added > 0:
            apart.append(f"{number} ({added / 1e6:.4g} instead of {stream.receiver.bytes / 1e6:.4g} MB)")
        if stream.receiver is None and stream.sends is not False:
            total = stream.sender or _Interval(
                0,
                stream.intervals[0].begin_s,
                stream.intervals[-1].end_s,
                added,
                0.0,
            )
            rate_mbps = (total.rate_bps or total.bytes * 8.0 / (total.lasts_s or 1.0)) / 1e6
            (unknown if stream.sends is None else handed).append(
                f"{number} ({total.bytes / 1e6:.4g} MB in {total.lasts_s:.4g} s, {rate_mbps:.4g} Mbit/s)"
            )
    if handed:
        yield (
            f"the sender alone tells what it handed to the kernel of flow {', '.join(handed)}: what arrived is not "
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
