"""What iperf3 says of a test (`-J` or `--json-stream`) as a results directory: rates, retransmissions, RTT, window.

It tells totals of intervals and no packets: what needs those is absent.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import BadJson, parse_json
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
_MOST_VALUES = 10_000_000
"""Maximum number of commas in a stream of events: 128 streams have 9 million in an hour and a half."""
_MOST = 2.0**53
"""Largest value: up to it every whole number is one of its own."""


@dataclass
class _Stream:
    """The samples of a stream, and what it has transferred so far."""

    number: int
    rows: list[Row] = field(default_factory=list)
    bytes: float = 0.0
    retransmissions: float = 0.0
    packets: float = 0.0
    lost: float = 0.0
    first_s: float | None = None
    last_s: float = 0.0
    sender: bool = True

    def put(self, time_s: float, name: str, unit: str, value: float) -> None:
        self.rows.append((round(time_s * 1e9), self.number, name, unit, value))


def import_iperf3(source: Path, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports iperf3's JSON of a test, or every one in a directory, into the new directory `out`.

    Raises:
        UserError: there is none, none can be read (file, and line where it is no JSON), or `out` is in use.
    """
    return import_traces(source, out, command, kind="iperf3", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    return [_trace(label_of(file.stem, used, "iperf3"), file, folder / "flows.parquet")]


def _trace(label: str, file: Path, samples: Path) -> Trace:
    report = _report(file)
    problem = report.get("error")
    if problem:
        raise UserError(f"{file}: iperf3 says: {one_line(ValueError(str(problem)))}")
    start, intervals, end = report.get("start"), report.get("intervals"), report.get("end")
    if not (isinstance(start, dict) and isinstance(intervals, list) and isinstance(end, dict)):
        raise UserError(f"{file}: is no report of iperf3: needed are the keys start, intervals and end")
    try:
        trace, rows = _measured(label, file, samples, start, intervals, end)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what iperf3 writes: {one_line(error)}") from None
    _core.write_samples(str(samples), rows)
    return trace


def _report(file: Path) -> dict[str, Any]:
    """The report, of one value or of a line for each event (`--json-stream`)."""
    text = read_log(file)
    try:
        found = parse_json(text)
    except BadJson as error:
        if '"event"' not in text.partition("\n")[0]:
            raise UserError(f"{file}:{error.line}: {error.reason}") from None
        return _stream(file, text)
    if isinstance(found, dict) and "event" in found:
        return _stream(file, text)
    if not isinstance(found, dict):
        raise UserError(f"{file}:1: is no JSON object")
    return found


def _stream(file: Path, text: str) -> dict[str, Any]:
    if text.count(",") > _MOST_VALUES:
        raise UserError(f"{file}: has too many values: allowed are {_MOST_VALUES}")
    report: dict[str, Any] = {"intervals": []}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = parse_json(line)
            name, data = event["event"], event["data"]
        except (BadJson, KeyError, TypeError) as error:
            raise UserError(f"{file}:{number}: is no event of iperf3: {one_line(error)}") from None
        if name == "interval":
            report["intervals"].append(data)
        else:
            report[str(name)] = data
    return report


def _measured(
    label: str, file: Path, samples: Path, start: dict[str, Any], intervals: list[Any], end: dict[str, Any]
) -> tuple[Trace, list[Row]]:
    """Return the trace of a report, and the samples that belong into its file."""
    if len(start["connected"]) > MOST_STREAMS:
        raise UserError(f"{file}: has {len(start['connected'])} streams: allowed are {MOST_STREAMS}")
    test = start["test_start"]
    protocol = str(test["protocol"])
    streams = {socket["socket"]: _Stream(number) for number, socket in enumerate(start["connected"], 1)}
    for interval in intervals:
        for part in interval["streams"]:
            if part["socket"] in streams and not part.get("omitted", False):
                _interval(streams[part["socket"]], part)
    notes = list(_ends(streams, end["streams"], protocol))
    alive = {stream.number: stream for stream in streams.values() if stream.first_s is not None}
    if not alive:
        raise UserError(f"{file}: has no interval of any stream: nothing to import")
    rows = sorted(row for stream in alive.values() for row in stream.rows)
    facts = {
        "protocol": protocol,
        "streams": len(streams),
        "reverse": bool(test.get("reverse", 0)),
        "bidirectional": bool(test.get("bidir", 0)),
        "version": start.get("version"),
        "sender_tcp_congestion": end.get("sender_tcp_congestion"),
        "receiver_tcp_congestion": end.get("receiver_tcp_congestion"),
        "streams_udp": [part["udp"] for part in end["streams"] if "udp" in part],
    }
    trace = Trace(
        label=label,
        source=file.name,
        flows=tuple(TracedFlow(stream.number, stream.first_s, stream.last_s) for stream in alive.values()),
        samples=samples,
        last_s=max(stream.last_s for stream in alive.values()),
        events=len(rows),
        tells=UNTOLD,
        facts=facts,
        notes=tuple(notes),
        started=_started(file, start),
    )
    return trace, rows


def _started(file: Path, start: dict[str, Any]) -> datetime | None:
    """When the test began, if it says so."""
    seconds = (start.get("timestamp") or {}).get("timesecs")
    return started_at(file, float(seconds)) if seconds else None


def _number(part: dict[str, Any], key: str, otherwise: float | None = None, *, least: float = -_MOST) -> float:
    """A value of iperf3's.

    Raises:
        KeyError, TypeError, ValueError: there is none, or it is no number, or out of bounds.
    """
    value = float(part[key] if otherwise is None else part.get(key, otherwise))
    if not least <= value <= _MOST:  # nor is what is not a number
        raise ValueError(f"`{key}` = {value:g}: allowed are numbers from {least:g} to {_MOST:g}")
    return value


def _interval(stream: _Stream, part: dict[str, Any]) -> None:
    """One line of a stream: values at its end, totals since the beginning."""
    begin_s, end_s = _number(part, "start"), _number(part, "end")
    if not 0.0 <= begin_s <= end_s < 1e9:
        raise ValueError(f"an interval from {begin_s} to {end_s} s")
    stream.sender = bool(part.get("sender", True))
    if stream.first_s is None:
        stream.first_s = begin_s
        _totals(stream, begin_s, part)
    stream.bytes += _number(part, "bytes", least=0.0)
    stream.retransmissions += _number(part, "retransmits", 0)
    stream.packets += _number(part, "packets", 0, least=0.0)
    stream.lost += _number(part, "lost_packets", 0)
    stream.last_s = max(stream.last_s, end_s)
    _totals(stream, end_s, part)
    for key, name, unit, factor in (
        ("rtt", "srtt", "ms", 1e-3),
        ("rttvar", "rttvar", "ms", 1e-3),
        ("snd_cwnd", "window", "bytes", 1.0),
        ("jitter_ms", "jitter", "ms", 1.0),
    ):
        # what iperf3 cannot ask for it writes as zero
        if (value := _number(part, key, 0)) > 0:
            stream.put(end_s, name, unit, value * factor)


def _totals(stream: _Stream, time_s: float, part: dict[str, Any]) -> None:
    stream.put(time_s, "transferred", "bytes", stream.bytes)
    if "retransmits" in part:
        stream.put(time_s, "retransmissions", "packets", stream.retransmissions)
    if "lost_packets" in part:
        stream.put(time_s, "sent", "packets", stream.packets)
        stream.put(time_s, "lost", "packets", stream.lost)
    if not stream.sender:
        stream.put(time_s, "delivered", "bytes", stream.bytes)


def _ends(streams: dict[Any, _Stream], parts: list[Any], protocol: str) -> Iterator[str]:
    """Takes in what the receiver reported at the end, which a sender's intervals do not know; what to know of it."""
    unreported = 0
    for part in parts:
        udp = part.get("udp")
        socket = (udp or part.get("sender") or part.get("receiver") or {}).get("socket")
        stream = streams.get(socket)
        if stream is None or stream.first_s is None or not stream.sender:
            continue
        received = part.get("receiver") if udp is None else udp
        if udp is not None and (sent := _number(udp, "packets", 0)) > 0 and "lost_packets" in udp:
            lost = _number(udp, "lost_packets")
            if lost > sent:
                raise ValueError(f"`lost_packets` = {lost:g}: allowed are at most the {sent:g} that were sent")
            for name, value in (("sent", sent), ("lost", lost)):
                stream.put(stream.first_s, name, "packets", 0.0)
                stream.put(stream.last_s, name, "packets", value)
            _received(stream, _number(udp, "bytes") * (1.0 - lost / sent))
        elif udp is None and received and (count := _number(received, "bytes", 0)) > 0:
            _received(stream, count)
        else:
            unreported += 1
    if unreported:
        yield f"{unreported} streams end without the receiver's report: what arrived is not known"
    if any(stream.sender for stream in streams.values()):
        yield f"written by the sender of the data ({protocol}): intervals are of what it handed to the kernel"
    else:
        yield f"written by the receiver of the data ({protocol})"


def _received(stream: _Stream, count: float) -> None:
    if stream.first_s is not None:
        stream.put(stream.first_s, "delivered", "bytes", 0.0)
        stream.put(stream.last_s, "delivered", "bytes", count)
