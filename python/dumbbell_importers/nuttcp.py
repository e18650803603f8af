"""Importer of nuttcp's text, also with `-fparse`: rates, retransmissions, UDP losses.

Interval reports and totals are those of the receiver, whichever end prints them, so they count arrivals (nuttcp
8.2.2, dmfreemon/nuttcp@2dc4d06c, nuttcp-8.2.2.c: `PERF_FMT_INTERVAL` and `PERF_FMT_BRIEF` have the form of a line).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.formats.contents import stem_of
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.traces import UNTOLD, Row, Trace, TracedFlow, import_traces, label_of, read_log, require_length
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from what nuttcp prints: totals of intervals, of all streams together. There are no packets in it, so there is
no one-way delay; what the path carried besides payload is not known either.
"""
SUFFIXES = (".txt", ".log", ".out")
_MOST_TESTS = 1_000
_MOST = 2.0**53
"""Maximum value. Up to it, a float represents every whole number exactly."""
_LEAST_FIT_S = 0.006
"""Error of a printed time, s: it has two decimals. Bytes divided by rate are more exact."""
_NUMBER = r"\d+(?:\.\d+)?"
_AMOUNTS = (
    re.compile(rf"(?P<mb>{_NUMBER}) MB /\s+(?P<s>{_NUMBER}) sec =\s+(?P<mbps>{_NUMBER}) Mbps(?P<rest>.*)$"),
    re.compile(
        rf"megabytes=(?P<mb>{_NUMBER}) real_sec(?:onds)?=(?P<s>{_NUMBER}) rate_Mbps=(?P<mbps>{_NUMBER})(?P<rest>.*)$"
    ),
)
_TOTAL = re.compile(r"%[TR]X|\s[tr]x_cpu=")
_OF_RECEIVER = re.compile(r"%RX|\srx_cpu=")
_RESENT = re.compile(r"\s(\d+)(?: = \d+(?:\+\d+)*)? retrans\b|\sretrans=(\d+)")
_LOST = re.compile(r"\s(\d+) /\s+\d+ drop/pkt|\sdrop=(\d+)")
_SENT = re.compile(r"\s\d+ /\s+(\d+) drop/pkt|\spkt=(\d+)")
_RTT = re.compile(rf"\s({_NUMBER}) msRTT|\srtt_ms=({_NUMBER})")


@dataclass(frozen=True)
class _Line:
    """Line of output: an interval or the total."""

    bytes: float
    lasts_s: float
    resent: float | None
    lost_packets: float | None
    sent_packets: float | None
    rtt_ms: float | None
    is_of_receiver: bool
    is_of_host: bool
    """True if the retransmissions are those of the whole host. Those of the test are then unknown."""
    has_window: bool


@dataclass
class _Test:
    """Test in a text."""

    intervals: list[_Line] = field(default_factory=list)
    total: _Line | None = None

    @property
    def lines(self) -> list[_Line]:
        """All printed lines of the test."""
        return [*self.intervals, *([self.total] if self.total else [])]

    @property
    def tells_retransmissions(self) -> bool:
        """Return True if retransmissions are known: versions that print no window always print 0."""
        return any(line.resent or (line.resent is not None and line.has_window) for line in self.lines)


def read(request: ImportRequest) -> ResultsDirectory:
    """Import the text of nuttcp, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (with file and line), or `out` is in use.
    """
    return import_traces(request, kind="nuttcp", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    text = read_log(file)
    tests = _tests(file, text)
    if not tests:
        if problem := re.search(r"Error: .*", text):
            raise UserError(f"{file}: nuttcp says: {problem[0].strip()[:200]}")
        raise UserError(
            f"{file}: there is no line of nuttcp in it, as `7.1250 MB / 3.03 sec = 19.7430 Mbps 11 %TX 0 %RX` "
            "(needed is the brief output, which is the default)"
        )
    traces: list[Trace] = []
    for number, test in enumerate(tests, 1):
        labels = [*used, *(trace.label for trace in traces)]
        label = label_of(stem_of(file), labels, "nuttcp", number if len(tests) > 1 else None)
        traces.append(_trace(label, file, test, folder / f"flows-{number}.parquet"))
    return traces


def _tests(file: Path, text: str) -> list[_Test]:
    """Return the tests in a text. Each test ends with its total."""
    tests = [_Test()]
    for number, line in enumerate(text.splitlines(), 1):
        if not (match := next((match for form in _AMOUNTS if (match := form.search(line))), None)):
            continue
        values = _line(match)
        if max(value for value in vars(values).values() if value is not None) > _MOST:
            raise UserError(f"{file}:{number}: is out of bounds: allowed are values to {_MOST:g}")
        if _TOTAL.search(match["rest"]):
            tests[-1].total = values
            tests.append(_Test())
        else:
            tests[-1].intervals.append(values)
        if len(tests) > _MOST_TESTS + 1:
            raise UserError(f"{file}:{number}: has more than {_MOST_TESTS} tests: cut it into parts")
    return [test for test in tests if test.lines]


def _line(match: re.Match[str]) -> _Line:
    rest = match["rest"]
    amount, printed_s, rate_mbps = float(match["mb"]) * 2**20, float(match["s"]), float(match["mbps"])
    better_s = amount * 8.0 / (rate_mbps * 1e6) if rate_mbps else printed_s
    return _Line(
        bytes=amount,
        lasts_s=better_s if abs(better_s - printed_s) <= _LEAST_FIT_S else printed_s,
        resent=_number(_RESENT, rest),
        lost_packets=_number(_LOST, rest),
        sent_packets=_number(_SENT, rest),
        rtt_ms=_number(_RTT, rest),
        is_of_receiver=_OF_RECEIVER.search(rest) is not None or not _TOTAL.search(rest),
        is_of_host="host-retrans" in rest,
        has_window="KB-cwnd" in rest or " cwnd=" in rest,
    )


def _number(form: re.Pattern[str], text: str) -> float | None:
    match = form.search(text)
    return float(match[1] or match[2]) if match else None


def _trace(label: str, file: Path, test: _Test, samples: Path) -> Trace:
    rows = sorted(_samples(test))
    last_s = max(time_ns for time_ns, *_ in rows) / 1e9
    require_length(file.name, last_s)
    core.write_samples(str(samples), rows)
    is_udp = any(line.sent_packets is not None for line in test.lines)
    return Trace(
        label=label,
        source=file.name,
        flows=(TracedFlow(1, 0.0, last_s),),
        samples=samples,
        last_s=last_s,
        events=len(rows),
        tells=UNTOLD,
        facts={"protocol": "UDP" if is_udp else "TCP", "rtt_ms": test.total.rtt_ms if test.total else None},
        notes=tuple(_notes(test)),
    )


def _samples(test: _Test) -> Iterator[Row]:
    """Yield the counters of a test at the end of each interval, and the totals at its end."""

    def row(at_s: float, name: str, unit: str, value: float) -> Row:
        return round(at_s * 1e9), 1, name, unit, value

    at_s = so_far = resent = 0.0
    last = test.total
    delivered_bytes = last.bytes if last else sum(line.bytes for line in test.intervals)
    end_s = last.lasts_s if last else sum(line.lasts_s for line in test.intervals)
    tells_arrivals = last is None or last.is_of_receiver
    name = "delivered" if tells_arrivals else "transferred"
    yield row(0.0, name, "bytes", 0.0)
    if test.tells_retransmissions:
        yield row(0.0, "retransmissions", "packets", 0.0)
    for line in test.intervals:
        at_s, so_far, resent = at_s + line.lasts_s, so_far + line.bytes, resent + (line.resent or 0.0)
        if at_s < end_s:
            yield row(at_s, name, "bytes", min(so_far, delivered_bytes))
        if at_s < end_s and test.tells_retransmissions:
            yield row(at_s, "retransmissions", "packets", resent)
    yield row(end_s, name, "bytes", delivered_bytes)
    if test.tells_retransmissions:
        total = last.resent if last and last.resent is not None else resent
        yield row(end_s, "retransmissions", "packets", max(total, resent))
    if (
        last
        and last.sent_packets is not None
        and last.lost_packets is not None
        and last.lost_packets <= last.sent_packets
    ):
        for counter, value in (("sent", last.sent_packets), ("lost", last.lost_packets)):
            yield row(0.0, counter, "packets", 0.0)
            yield row(end_s, counter, "packets", value)


def _notes(test: _Test) -> Iterator[str]:
    """Yield notes on a test."""
    if test.total is None:
        yield "cut short: there is no total at the end"
    elif not test.total.is_of_receiver:
        yield "the sender alone tells what it handed to the kernel: what arrived is not known"
    if test.total and test.total.rtt_ms is not None:
        yield f"round-trip time when the connection began: {test.total.rtt_ms:g} ms"
    if not test.tells_retransmissions and any(line.resent == 0.0 for line in test.lines):
        yield "retransmissions are not known: versions of nuttcp that print no window print 0 whatever there are"
    if any(line.is_of_host for line in test.lines):
        yield "retransmissions are those of the whole host: those of the test are not known"
