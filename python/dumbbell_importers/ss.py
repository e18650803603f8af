"""Importer of logs of `ss -ti` in a loop, with times: TCP_INFO of every connection.

`ss` omits values of zero. A missing value is zero, unless no line of the log has it: then it is unknown.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

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
    require_length,
    started_at,
)
from dumbbell.results import ResultsDirectory
from dumbbell.results.analysis.findings.words import counted
from dumbbell_importers.stamps import Stamp, stamp_behind, stamp_in_front, watch_header

NOTES = """\
Imported from logs of ss: TCP_INFO of connections, now and then. There are no packets in it, so there is no one-way
delay and no loss; retransmissions are those that the kernel counted.
"""
SUFFIXES = (".txt", ".log", ".ss")
_COUNTERS = ("bytes_acked", "bytes_received", "bytes_sent", "segs_out", "segs_in", "data_segs_out", "retrans.2")
"""Counters of a connection. A decrease means that another connection uses the ports."""
_WORDS = (
    *("cwnd", "mss", "rto", "rtt", "minrtt", "ssthresh", "unacked", "sacked", "lost", "retrans"),
    *(word for word in _COUNTERS if "." not in word),
)
_WORD = re.compile(rf"(?<!\S)({'|'.join(_WORDS)}):([0-9.]+)(?:/([0-9.]+))?(?!\S)")
_RATE = re.compile(r"(?<!\S)(pacing_rate|delivery_rate) ([0-9.]+)([KMGT]?)bps(?=[\s/]|$)")
_BEFORE = r"\s*(?:[^\s:]+\s+){0,3}?"
"""Kind and state of a socket, both optional."""
_ADDRESS = r"((?:\[[^\]\s]+\]|\d+\.\d+\.\d+\.\d+)(?:%[^\s:]+)?:\d+)"
_NUMERIC_PAIR = re.compile(rf"{_BEFORE}{_ADDRESS}\s+{_ADDRESS}(?=\s|$)")
_PAIR = re.compile(rf"{_BEFORE}\d+\s+\d+\s+(\S+:[\w.*-]+)\s+(\S+:[\w.*-]+)(?=\s|$)")
"""Both addresses after the lengths of both queues. They may be names of hosts and services."""
_FACTOR = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}
_STATE = re.compile(r"\s*(?:\w+\s+)?(?:State|ESTAB|LISTEN|UNCONN|SYN-|FIN-|TIME-WAIT|CLOS|LAST-ACK)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[mK]")
_LEAST_PART = 0.01
_MOST_FLOWS = 64
_MOST = 2.0**53
"""Maximum value. Up to it, a float represents every whole number exactly."""
_HALF_A_DAY_S = 43_200.0
_LISTENER = ""
"""Name of a socket that waits for connections."""


@dataclass
class _Record:
    """TCP_INFO of a connection from one call of `ss`."""

    line: int
    turn: int
    """Number of times in the log before this record."""
    name: str | None
    """Both addresses; None if the log has none."""
    values: dict[str, float] = field(default_factory=dict)
    own_s: float | None = None
    """Time on the record's own lines, s."""

    @property
    def has_info(self) -> bool:
        """Return True if the record has TCP_INFO. Old versions of ss leave out a window of two packets."""
        return "cwnd" in self.values or ("rto" in self.values and "rtt" in self.values)


@dataclass
class _Log:
    """Contents of a log in the order of its lines."""

    records: list[_Record] = field(default_factory=list)
    times: list[tuple[float, bool]] = field(default_factory=list)
    """Times before or behind a block, s, each with True if it has its own line."""
    is_dated: bool = True
    is_whole: bool = True
    is_counted: bool = False
    """True if times are those of `watch`, counted by its interval."""
    zones: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Connection:
    """Connection with the times and values of its TCP_INFO."""

    name: str
    time_s: list[float] = field(default_factory=list)
    values: list[dict[str, float]] = field(default_factory=list)
    turn: int = -1

    @property
    def moved(self) -> float:
        """Bytes carried while the log was written, in the direction with more."""
        return max(self.total("bytes_acked"), self.total("bytes_received"))

    @property
    def is_receiver(self) -> bool:
        """Return True if more bytes came in than went out."""
        return self.total("bytes_received") > self.total("bytes_acked")

    def total(self, word: str) -> float:
        """Return the increase of a counter."""
        return self.values[-1].get(word, 0.0) - self.values[0].get(word, 0.0)

    def falls(self, values: dict[str, float]) -> str | None:
        """Return the first counter that decreased, or None."""
        before = self.values[-1] if self.values else {}
        return next((word for word in _COUNTERS if values.get(word, 0.0) < before.get(word, 0.0)), None)


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a log of `ss -ti`, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (file and line), or `out` is in use.
    """
    return import_traces(request, kind="ss", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    return [_trace(label_of(stem_of(file), used, "ss"), file, folder / "flows.parquet")]


def _trace(label: str, file: Path, samples: Path) -> Trace:
    log = _parse(file)
    connections = _connections(file, log)
    long_connections = [connection for connection in connections if len(connection.time_s) > 1]
    if not long_connections:
        raise UserError(f"{file}: no connection is in it twice: nothing to measure")
    words = {word for connection in long_connections for values in connection.values for word in values}
    largest = max(connection.moved for connection in long_connections)
    large = [connection for connection in long_connections if connection.moved >= _LEAST_PART * largest]
    large.sort(key=lambda connection: -connection.moved)
    flows = sorted(large[:_MOST_FLOWS], key=lambda connection: connection.time_s[0])
    first_s = min(connection.time_s[0] for connection in flows)
    last_s = max(connection.time_s[-1] for connection in flows) - first_s
    start = started_at(file, first_s) if log.is_dated else None
    require_length(file.name, last_s)
    rows: list[Row] = []
    for number, connection in enumerate(flows, 1):
        for time_s, values in zip(connection.time_s, connection.values, strict=True):
            at_ns = round((time_s - first_s) * 1e9)
            rows += [(at_ns, number, *sample) for sample in _samples(values, connection.is_receiver, words)]
    rows.sort()
    core.write_samples(str(samples), rows)
    notes = [f"flow {number} is {connection.name}" for number, connection in enumerate(flows, 1)]
    notes += _untold(words)
    receivers = [number for number, connection in enumerate(flows, 1) if connection.is_receiver]
    if receivers:
        numbers = ", ".join(map(str, receivers))
        notes.append(
            f"logged at the receiver of the data of flow {numbers}: window and RTT are those of its own packets"
        )
    if len(long_connections) > len(flows):
        notes.append(f"left out: {counted(len(long_connections) - len(flows), 'connection')} with little or no data")
    facts: dict[str, object] = {"connections": [connection.name for connection in flows]}
    if start is not None:
        facts |= {"started_at": start.isoformat(timespec="seconds")}
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
        facts=facts,
        notes=(*notes, *log.notes),
        start_time=start,
    )


def _untold(words: set[str]) -> Iterator[str]:
    """Yield notes on metrics that are absent because no line of the log has them."""
    if not words & {"bytes_acked", "bytes_received"}:
        yield (
            "no line has bytes_acked or bytes_received (kernels before Linux 4.1 count neither): what was delivered is "
            "not known"
        )
    if "rto" not in words:
        yield "lines of ss are cut (none has rto): retransmissions and bytes in flight are not known"
    if "cwnd" not in words:
        yield "no line has cwnd: the window is not known"


class _Lines:
    """Reader of a log: makes a `_Log` from its lines. A connection may take several lines."""

    def __init__(self, file: Path, is_dated: bool) -> None:
        self.file = file
        self.log = _Log(is_dated=is_dated)
        self.used = 0
        self.unused = 0
        """Number of times without a date in a log with dates, or with a date in a log without."""
        self._open: _Record | None = None
        self._before = float("-inf")
        self._day_s = 0.0
        self._intervals: list[float] = []

    def parse(self, text: str) -> _Log:
        """Return the contents of `text`."""
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self._line(number, line)
            except ValueError as error:
                raise UserError(f"{self.file}:{number}: {error}") from None
        self._close()
        return self.log

    def _line(self, number: int, text: str) -> None:
        if (header := watch_header(text)) is not None:
            self._close()
            interval, stamp = header
            self._intervals.append(interval)
            if stamp is not None:
                self._time(stamp, is_alone=True)
            elif self.used == 0:
                self.log.is_counted = True
                self.log.times.append((sum(self._intervals[1:]), True))
            return
        stamp, rest = stamp_in_front(text)
        addresses = _PAIR.match(rest) or _NUMERIC_PAIR.match(rest)
        values = _words(rest[addresses.end() :] if addresses else rest)
        if stamp is None and (addresses or values):
            behind = stamp_behind(rest)
            own_s = None if behind is None else self._seconds(behind)
        else:
            own_s = None if stamp is None else self._time(stamp, is_alone=not rest.strip("\t =-#*])>"))
        if addresses:
            self._close()
            waits = "LISTEN" in rest or addresses[2].endswith(":*")
            name = _LISTENER if waits else f"{addresses[1]} to {addresses[2]}"
            self._open = _Record(number, len(self.log.times), name)
        elif not values:
            if _STATE.match(rest):
                self._close()
            return
        if self._open is None or not values.keys().isdisjoint(self._open.values):
            self._close()
            self._open = _Record(number, len(self.log.times), None)
        if values and max(values.values()) > _MOST:
            beyond = max(values, key=lambda word: values[word])
            raise ValueError(f"`{beyond}` = {values[beyond]:g}: allowed is 0 to {_MOST:g}")
        if values and not self._open.values:
            # If there are several times, the one next to the values counts: `ts` writes one before every line.
            self._open.line, self._open.own_s = number, own_s if own_s is not None else self._open.own_s
        self._open.own_s = own_s if self._open.own_s is None else self._open.own_s
        self._open.values |= values

    def _close(self) -> None:
        record, self._open = self._open, None
        if record is not None and record.has_info and record.name != _LISTENER:
            self.log.records.append(record)

    def _time(self, stamp: Stamp, *, is_alone: bool) -> float | None:
        """Read a time before or behind a block. Return it, or None if its kind does not match the log."""
        seconds = self._seconds(stamp)
        if seconds is not None:
            if is_alone:
                self._close()
            self.log.times.append((seconds, is_alone))
        return seconds

    def _seconds(self, stamp: Stamp) -> float | None:
        if stamp.is_dated != self.log.is_dated:
            self.unused += 1
            return None
        if self.log.is_counted:
            self.log.times.clear()
            self.log.is_counted = False
        self.used += 1
        self.log.is_whole &= stamp.is_whole
        if stamp.zone:
            self.log.zones.add(stamp.zone)
        seconds = stamp.seconds + self._day_s
        before = self._before
        if not stamp.is_dated and seconds < before - _HALF_A_DAY_S:
            self._day_s += 2 * _HALF_A_DAY_S
            seconds += 2 * _HALF_A_DAY_S
        if stamp.is_whole and before >= seconds >= before // 1:
            return before  # of another clock that tells whole seconds
        if seconds < before:
            raise ValueError(f"the time goes back by {before - seconds:.3f} s")
        self._before = seconds
        return seconds


def _parse(file: Path) -> _Log:
    """Return the records of a log in the order of its lines, and its times.

    Raises:
        UserError: If a line cannot be (file and line), or there is no TCP_INFO or no time in it.
    """
    text = _COLOURS.sub("", read_log(file))
    if "\x1b[" in text:
        raise UserError(
            f"{file}: has the cursor movements of a terminal, as `watch` writes them to a file: needed are lines, as "
            "of `while sleep 0.1; do date +%s.%N; ss -tin; done`"
        )
    lines = _Lines(file, is_dated=True)
    log = lines.parse(text)
    if lines.unused > lines.used:
        log = _Lines(file, is_dated=False).parse(text)
    log.is_dated &= not log.is_counted
    if not log.records:
        raise UserError(f"{file}: there is no connection with TCP_INFO in it (`ss -tin` shows it)")
    if not log.times and all(record.own_s is None for record in log.records):
        line = log.records[0].line
        raise UserError(f"{file}:{line}: no time before or behind it: needed is one for each `ss`, as of `date +%s.%N`")
    return log


def _with_times(log: _Log) -> list[tuple[float, int, _Record]]:
    """Return each record that has a time, with the time and its number. Records of one `ss` share both."""
    alone = [number for number, (_, is_alone) in enumerate(log.times) if is_alone]
    first, last = log.records[0], log.records[-1]
    is_behind = (
        bool(alone)
        and len(alone) == len(log.times)
        and first.own_s is None
        and first.turn == 0
        and last.own_s is None
        and last.turn < len(log.times)
    )
    records: list[tuple[float, int, _Record]] = []
    own_number = len(log.times)
    for record in log.records:
        turn = record.turn if is_behind else record.turn - 1
        if record.own_s is not None:
            own_number += 1
            records.append((record.own_s, own_number, record))
        elif 0 <= turn < len(log.times):
            records.append((log.times[turn][0], turn, record))
    if is_behind:
        log.notes.append("times stand behind what they are of")
    if len(records) < len(log.records):
        log.notes.append(f"left out: {counted(len(log.records) - len(records), 'line')} of ss without a time")
    if log.is_counted:
        log.notes.append("times are counted by the interval of watch: it does not tell when it called ss")
    elif not log.is_dated:
        log.notes.append("times have no date: when it was recorded is not known")
    if log.zones:
        log.notes.append(f"time zone {', '.join(sorted(log.zones))}: its offset is not told, times count as UTC")
    return records


def _connections(file: Path, log: _Log) -> list[_Connection]:
    """Return the connections of a log, in the order in which they begin.

    Raises:
        UserError: If connections without addresses cannot be told apart (file and line).
    """
    records = _with_times(log)
    records_with_name = [entry for entry in records if entry[2].name is not None]
    if len(records_with_name) < len(records) and records_with_name:
        log.notes.append(f"left out: {counted(len(records) - len(records_with_name), 'line')} of ss without addresses")
    connections: dict[str, _Connection] = {}
    ended_connections: list[_Connection] = []
    reuses = 0
    for at_s, turn, record, name in _with_names(file, log, records_with_name or records):
        connection = connections.setdefault(name, _Connection(name))
        if counter := connection.falls(record.values):
            if not records_with_name and record.values.get(counter, 0.0) >= connection.values[0].get(counter, 0.0):
                raise UserError(
                    f"{file}:{record.line}: `{counter}` goes back, and without addresses this may be the same "
                    "connection or another one: log the lines with the addresses, too"
                )
            # The ports are used again, by another connection.
            ended_connections.append(connection)
            connection = connections[name] = _Connection(name)
        if turn == connection.turn or (not log.is_whole and at_s <= (connection.time_s or [float("-inf")])[-1]):
            reuses += 1
            continue
        connection.turn = turn
        connection.time_s.append(at_s)
        connection.values.append(record.values)
    if reuses:
        log.notes.append(f"left out: {counted(reuses, 'line')} of ss with the time of the one before")
    all_connections = [*ended_connections, *connections.values()]
    if log.is_whole:
        spread = [_spread(connection.time_s) for connection in all_connections]
        if spread != [connection.time_s for connection in all_connections]:
            log.notes.append("times are whole seconds: the lines of a second are spread over it evenly")
        for connection, times in zip(all_connections, spread, strict=True):
            connection.time_s = times
    return sorted(all_connections, key=lambda connection: connection.time_s[0])


def _with_names(
    file: Path, log: _Log, records: Sequence[tuple[float, int, _Record]]
) -> Iterator[tuple[float, int, _Record, str]]:
    """Yield each record with the name of its connection. Without addresses, its position within one `ss` is the name.

    Raises:
        UserError: If there are several at a time, and not always as many.
    """
    if records and records[0][2].name is not None:
        yield from ((at_s, turn, record, record.name or "") for at_s, turn, record in records)
        return
    places: Counter[int] = Counter()
    total = Counter(turn for _, turn, _ in records)
    maximum = max(total.values(), default=0)
    uneven = next((turn for turn, count in total.items() if count != maximum), None)
    if uneven is not None:
        line = next(record.line for _, turn, record in records if turn == uneven)
        raise UserError(
            f"{file}:{line}: {counted(total[uneven], 'connection')}, and {maximum} at another time: without addresses "
            "they cannot be told apart: log the lines with the addresses, too"
        )
    if maximum > 1:
        log.notes.append("connections have no addresses: they are told apart by their order")
    else:
        log.notes.append("the log has no addresses: all of it is taken for one connection after another")
    for at_s, turn, record in records:
        places[turn] += 1
        yield at_s, turn, record, f"connection {places[turn]} of those without addresses"


def _spread(times: list[float]) -> list[float]:
    """Return the times with those in one whole second spread evenly over it."""
    counts = Counter(times)
    if len(counts) < 2 or len(counts) == len(times):
        return times
    seconds = sorted(counts)
    usual = median(counts[second] for second in seconds[1:-1]) if len(seconds) > 2 else max(counts.values())
    spread = []
    for second in seconds:
        count = counts[second]
        parts = max(count, round(usual))
        # Logging may have begun late in the first second.
        begin = parts - count if second == seconds[0] else 0
        spread += [second + (begin + place) / parts for place in range(count)]
    return spread


def _words(text: str) -> dict[str, float]:
    """Return the values of a line by name; `name.2` is the value behind a slash."""
    values: dict[str, float] = {}
    for word, first, second in _WORD.findall(text):
        try:
            values[word] = float(first)
            if second:
                values[f"{word}.2"] = float(second)
        except ValueError:
            continue
    rate = text.find("_rate ")
    if rate >= 0:
        # Rates stand behind most words: searching from there takes half the time.
        for word, value, unit in _RATE.findall(text, max(rate - len("delivery"), 0)):
            if value.count(".") < 2 and value != ".":
                values[word] = float(value) * _FACTOR[unit]
    return values


def _samples(values: dict[str, float], is_receiver: bool, words: set[str]) -> Iterator[tuple[str, str, float]]:
    """Yield field, unit and value of a connection at one time. `words` are those that occur anywhere in the log."""
    mss = values.get("mss")
    if "cwnd" in values:
        yield "cwnd", "packets", values["cwnd"]
        if mss is not None:
            yield "window", "bytes", values["cwnd"] * mss
    if "rto" in words:
        # Linux v6.12, include/net/tcp.h, tcp_packets_in_flight
        in_flight = (
            values.get("unacked", 0) - values.get("sacked", 0) - values.get("lost", 0) + values.get("retrans", 0)
        )
        if mss is not None:
            yield "in_flight", "bytes", max(in_flight, 0) * mss
        yield "retransmissions", "packets", values.get("retrans.2", 0)
    if words & {"bytes_acked", "bytes_received"}:
        yield "delivered", "bytes", values.get("bytes_received" if is_receiver else "bytes_acked", 0)
    for word, name, unit in (
        ("rtt", "srtt", "ms"),
        ("rtt.2", "rttvar", "ms"),
        ("minrtt", "lowest_rtt", "ms"),
        ("ssthresh", "ssthresh", "packets"),
        ("pacing_rate", "pacing_rate", "Mbit/s"),
        ("delivery_rate", "delivery_rate", "Mbit/s"),
    ):
        if word in values:
            yield name, unit, values[word]
