"""A log of `ss -tin` in a loop, with the time before each, as a results directory: TCP_INFO of every connection.

`ss` leaves out what is zero: of a line that has the congestion window, what is not there is zero.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from dumbbell import _core
from dumbbell.base.errors import UserError
from dumbbell.formats.traces import (
    UNTOLD,
    Row,
    Trace,
    TracedFlow,
    import_traces,
    label_of,
    read_log,
    require_length,
    started_at,
)
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from logs of ss: TCP_INFO of connections, now and then. There are no packets in it, so there is no one-way
delay and no loss; retransmissions are those that the kernel counted.
"""
SUFFIXES = (".txt", ".log", ".ss")
_EPOCH = re.compile(r"^[#\s]*(?P<epoch>\d{9,10}(?:[.,]\d{1,9})?)(?=\s|$)")
_DATE = re.compile(
    r"^[#\s\[]*(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?P<part>[.,]\d{1,9})?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?(?=[\s\]]|$)\]?"
)
_ADDRESS = r"((?:\[[^\]\s]+\]|\d+\.\d+\.\d+\.\d+)(?:%[^\s:]+)?:\d+)"
_ADDRESSES = re.compile(rf"(?:^|\s){_ADDRESS}\s+{_ADDRESS}(?=\s|$)")
_WORD = re.compile(r"(?:^|\s)([a-z_]+):([0-9.]+)(?:/([0-9.]+))?(?=\s|$)")
_RATE = re.compile(r"(?:^|\s)(pacing_rate|delivery_rate) ([0-9.]+)([KMGT]?)bps(?=\s|$)")
_FACTOR = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}
_LEAST_PART = 0.01
_MOST_FLOWS = 64


@dataclass
class _Connection:
    """One connection: when, and what TCP_INFO said."""

    name: str
    time_s: list[float] = field(default_factory=list)
    said: list[dict[str, float]] = field(default_factory=list)

    @property
    def moved(self) -> float:
        """Bytes that went over it while the log went on, in the direction with more."""
        return max(self.total("bytes_acked"), self.total("bytes_received"))

    @property
    def is_receiver(self) -> bool:
        """Whether more came in than went out."""
        return self.total("bytes_received") > self.total("bytes_acked")

    def total(self, word: str) -> float:
        """What was added to a counter."""
        return self.said[-1].get(word, 0.0) - self.said[0].get(word, 0.0)


def import_ss(source: Path, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports a log of `ss -tin`, or every one in a directory, into the new directory `out`.

    Raises:
        UserError: there is none, none can be read (file and line), or `out` is in use.
    """
    return import_traces(source, out, command, kind="ss", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    return [_trace(label_of(file.stem, used, "ss"), file, folder / "flows.parquet")]


def _trace(label: str, file: Path, samples: Path) -> Trace:
    found = [connection for connection in _connections(file) if len(connection.time_s) > 1]
    if not found:
        raise UserError(f"{file}: no connection is in it twice: nothing to measure")
    largest = max(connection.moved for connection in found)
    large = [connection for connection in found if connection.moved >= _LEAST_PART * largest]
    large.sort(key=lambda connection: -connection.moved)
    flows = sorted(large[:_MOST_FLOWS], key=lambda connection: connection.time_s[0])
    first_s = min(connection.time_s[0] for connection in flows)
    last_s = max(connection.time_s[-1] for connection in flows) - first_s
    started = started_at(file, first_s)
    require_length(file.name, last_s)
    rows: list[Row] = []
    for number, connection in enumerate(flows, 1):
        for time_s, said in zip(connection.time_s, connection.said, strict=True):
            at_ns = round((time_s - first_s) * 1e9)
            rows += [(at_ns, number, *sample) for sample in _samples(said, connection.is_receiver)]
    rows.sort()
    _core.write_samples(str(samples), rows)
    notes = [f"flow {number} is {connection.name}" for number, connection in enumerate(flows, 1)]
    receivers = [number for number, connection in enumerate(flows, 1) if connection.is_receiver]
    if receivers:
        which = ", ".join(map(str, receivers))
        notes.append(f"logged at the receiver of the data of flow {which}: window and RTT are those of its own packets")
    if len(found) > len(flows):
        notes.append(f"{len(found) - len(flows)} connections with little or no data are left out")
    return Trace(
        label=label,
        source=file.name,
        flows=tuple(
            TracedFlow(number, connection.time_s[0] - first_s, connection.time_s[-1] - first_s)
            for number, connection in enumerate(flows, 1)
        ),
        samples=samples,
        last_s=last_s,
        events=len(rows),
        tells=UNTOLD,
        facts={
            "started_at": started.isoformat(timespec="seconds"),
            "connections": [connection.name for connection in flows],
        },
        notes=tuple(notes),
        started=started,
    )


def _connections(file: Path) -> list[_Connection]:
    """The connections of a log, in the order in which they appear."""
    connections: dict[str, _Connection] = {}
    settled: list[_Connection] = []
    at_s: float | None = None
    name: str | None = None
    for number, text in enumerate(read_log(file).splitlines(), 1):
        stamp, rest = _stamp(file, number, text)
        if stamp is not None:
            if at_s is not None and stamp < at_s:
                raise UserError(f"{file}:{number}: the time goes back by {at_s - stamp:.3f} s")
            at_s = stamp
        addresses = _ADDRESSES.search(rest)
        if addresses:
            name = f"{addresses[1]} to {addresses[2]}"
        said = _words(rest)
        if name is None or "cwnd" not in said:
            continue
        if beyond := next((word for word, value in said.items() if not 0 <= value <= _MOST), None):
            raise UserError(f"{file}:{number}: `{beyond}` = {said[beyond]:g}: allowed is 0 to {_MOST:g}")
        if at_s is None:
            raise UserError(f"{file}:{number}: no time before it: needed is one for each `ss`, as of `date +%s.%N`")
        connection = connections.setdefault(name, _Connection(name))
        if connection.said and said.get("bytes_acked", 0) < connection.said[-1].get("bytes_acked", 0):
            # the same ports again: another connection
            settled.append(connection)
            connection = connections[name] = _Connection(name)
        if not connection.time_s or at_s > connection.time_s[-1]:
            connection.time_s.append(at_s)
            connection.said.append(said)
        name = None
    found = [*settled, *connections.values()]
    if not found:
        raise UserError(f"{file}: there is no connection with TCP_INFO in it (`ss -tin` shows it)")
    return sorted(found, key=lambda connection: connection.time_s[0])


_MOST = 2.0**53
"""Largest value: up to it every whole number is one of its own."""


def _stamp(file: Path, number: int, text: str) -> tuple[float | None, str]:
    """The time at the beginning of a line, s since 1970, and the rest of it."""
    epoch = _EPOCH.match(text)
    if epoch:
        return float(epoch["epoch"].replace(",", ".")), text[epoch.end() :]
    date = _DATE.match(text)
    if not date:
        return None, text
    zone = (date["zone"] or "+00:00").replace("Z", "+00:00")
    try:
        moment = datetime.fromisoformat(date["date"].replace(" ", "T") + zone)
    except ValueError:
        raise UserError(f"{file}:{number}: `{date['date']}{zone}` is no time") from None
    part = float("0." + date["part"][1:]) if date["part"] else 0.0
    return moment.timestamp() + part, text[date.end() :]


def _words(text: str) -> dict[str, float]:
    """What a line says of a connection; `name.2` is what stands behind a slash."""
    said: dict[str, float] = {}
    for word, first, second in _WORD.findall(text):
        try:
            said[word] = float(first)
            if second:
                said[f"{word}.2"] = float(second)
        except ValueError:
            continue
    for word, value, unit in _RATE.findall(text):
        if value.count(".") < 2 and value != ".":
            said[word] = float(value) * _FACTOR[unit]
    return said


def _samples(said: dict[str, float], is_receiver: bool) -> Iterator[tuple[str, str, float]]:
    """One moment of a connection as field, unit and value."""
    yield "cwnd", "packets", said["cwnd"]
    # Linux v6.12, include/net/tcp.h, tcp_packets_in_flight
    in_flight = said.get("unacked", 0) - said.get("sacked", 0) - said.get("lost", 0) + said.get("retrans", 0)
    if "mss" in said:
        yield "window", "bytes", said["cwnd"] * said["mss"]
        yield "in_flight", "bytes", max(in_flight, 0) * said["mss"]
    yield "retransmissions", "packets", said.get("retrans.2", 0)
    yield "delivered", "bytes", said.get("bytes_received" if is_receiver else "bytes_acked", 0)
    for word, name, unit in (
        ("rtt", "srtt", "ms"),
        ("rtt.2", "rttvar", "ms"),
        ("minrtt", "lowest_rtt", "ms"),
        ("ssthresh", "ssthresh", "packets"),
        ("pacing_rate", "pacing_rate", "Mbit/s"),
        ("delivery_rate", "delivery_rate", "Mbit/s"),
    ):
        if word in said:
            yield name, unit, said[word]
