"""Logs of `ss -ti` in a loop, with times: TCP_INFO of every connection.

`ss` leaves out what is zero. So what a line lacks is zero, unless no line of the log has it: then it is not told.
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
"""Totals of a connection; those that are less than before are another connection's."""
_WORDS = (
    *("cwnd", "mss", "rto", "rtt", "minrtt", "ssthresh", "unacked", "sacked", "lost", "retrans"),
    *(word for word in _COUNTERS if "." not in word),
)
_WORD = re.compile(rf"(?<!\S)({'|'.join(_WORDS)}):([0-9.]+)(?:/([0-9.]+))?(?!\S)")
_RATE = re.compile(r"(?<!\S)(pacing_rate|delivery_rate) ([0-9.]+)([KMGT]?)bps(?=[\s/]|$)")
_BEFORE = r"\s*(?:[^\s:]+\s+){0,3}?"
"""Kind and state of a socket, or nothing."""
_ADDRESS = r"((?:\[[^\]\s]+\]|\d+\.\d+\.\d+\.\d+)(?:%[^\s:]+)?:\d+)"
_NUMERIC_PAIR = re.compile(rf"{_BEFORE}{_ADDRESS}\s+{_ADDRESS}(?=\s|$)")
_PAIR = re.compile(rf"{_BEFORE}\d+\s+\d+\s+(\S+:[\w.*-]+)\s+(\S+:[\w.*-]+)(?=\s|$)")
"""Both addresses after the lengths of both queues: they may be names of hosts and of services."""
_FACTOR = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}
_STATE = re.compile(r"\s*(?:\w+\s+)?(?:State|ESTAB|LISTEN|UNCONN|SYN-|FIN-|TIME-WAIT|CLOS|LAST-ACK)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[mK]")
_LEAST_PART = 0.01
_MOST_FLOWS = 64
_MOST = 2.0**53
"""Largest value: up to it every whole number is one of its own."""
_HALF_A_DAY_S = 43_200.0
_LISTENER = ""
"""Name of what waits for connections."""


@dataclass
class _Record:
    """What one `ss` said of a connection."""

    line: int
    turn: int
    """Number of times that stand before it."""
    name: str | None
    """Both addresses; None if the log has none."""
    said: dict[str, float] = field(default_factory=dict)
    own: float | None = None
    """Time at its own lines, s."""

    @property
    def has_info(self) -> bool:
        """Return whether it has TCP_INFO; old versions of ss leave out a window of two packets."""
        return "cwnd" in self.said or ("rto" in self.said and "rtt" in self.said)


@dataclass
class _Log:
    """What a log says, line by line."""

    records: list[_Record] = field(default_factory=list)
    times: list[tuple[float, bool]] = field(default_factory=list)
    """Each time before or behind a block, s, and whether it stands on a line of its own."""
    is_dated: bool = True
    is_whole: bool = True
    is_counted: bool = False
    """Whether times are those of `watch`, counted by its interval."""
    zones: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)


@dataclass
class _Connection:
    """One connection: when, and what TCP_INFO said."""

    name: str
    time_s: list[float] = field(default_factory=list)
    said: list[dict[str, float]] = field(default_factory=list)
    turn: int = -1

    @property
    def moved(self) -> float:
        """Bytes that went over it while the log went on, in the direction with more."""
        return max(self.total("bytes_acked"), self.total("bytes_received"))

    @property
    def is_receiver(self) -> bool:
        """Return whether more came in than went out."""
        return self.total("bytes_received") > self.total("bytes_acked")

    def total(self, word: str) -> float:
        """Return what was added to a counter."""
        return self.said[-1].get(word, 0.0) - self.said[0].get(word, 0.0)

    def falls(self, said: dict[str, float]) -> str | None:
        """Return the first counter that is less than before."""
        before = self.said[-1] if self.said else {}
        return next((word for word in _COUNTERS if said.get(word, 0.0) < before.get(word, 0.0)), None)


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
    found = [connection for connection in connections if len(connection.time_s) > 1]
    if not found:
        raise UserError(f"{file}: no connection is in it twice: nothing to measure")
    words = {word for connection in found for said in connection.said for word in said}
    largest = max(connection.moved for connection in found)
    large = [connection for connection in found if connection.moved >= _LEAST_PART * largest]
    large.sort(key=lambda connection: -connection.moved)
    flows = sorted(large[:_MOST_FLOWS], key=lambda connection: connection.time_s[0])
    first_s = min(connection.time_s[0] for connection in flows)
    last_s = max(connection.time_s[-1] for connection in flows) - first_s
    started = started_at(file, first_s) if log.is_dated else None
    require_length(file.name, last_s)
    rows: list[Row] = []
    for number, connection in enumerate(flows, 1):
        for time_s, said in zip(connection.time_s, connection.said, strict=True):
            at_ns = round((time_s - first_s) * 1e9)
            rows += [(at_ns, number, *sample) for sample in _samples(said, connection.is_receiver, words)]
    rows.sort()
    core.write_samples(str(samples), rows)
    notes = [f"flow {number} is {connection.name}" for number, connection in enumerate(flows, 1)]
    notes += _untold(words)
    receivers = [number for number, connection in enumerate(flows, 1) if connection.is_receiver]
    if receivers:
        which = ", ".join(map(str, receivers))
        notes.append(f"logged at the receiver of the data of flow {which}: window and RTT are those of its own packets")
    if len(found) > len(flows):
        notes.append(f"left out: {counted(len(found) - len(flows), 'connection')} with little or no data")
    facts: dict[str, object] = {"connections": [connection.name for connection in flows]}
    if started is not None:
        facts |= {"started_at": started.isoformat(timespec="seconds")}
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
        started=started,
    )


def _untold(words: set[str]) -> Iterator[str]:
    """Yield what no line of a log tells, and so is absent."""
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
    """Reader of a log: makes a `_Log` of its lines, of which one connection may take several."""

    def __init__(self, file: Path, is_dated: bool) -> None:
        self.file = file
        self.log = _Log(is_dated=is_dated)
        self.used = 0
        self.unused = 0
        """Number of times without a date where there are some with one, or the reverse."""
        self._open: _Record | None = None
        self._before = float("-inf")
        self._day_s = 0.0
        self._intervals: list[float] = []

    def parse(self, text: str) -> _Log:
        """Return what the lines of `text` say."""
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
        said = _words(rest[addresses.end() :] if addresses else rest)
        if stamp is None and (addresses or said):
            behind = stamp_behind(rest)
            own = None if behind is None else self._seconds(behind)
        else:
            own = None if stamp is None else self._time(stamp, is_alone=not rest.strip("\t =-#*])>"))
        if addresses:
            self._close()
            waits = "LISTEN" in rest or addresses[2].endswith(":*")
            name = _LISTENER if waits else f"{addresses[1]} to {addresses[2]}"
            self._open = _Record(number, len(self.log.times), name)
        elif not said:
            if _STATE.match(rest):
                self._close()
            return
        if self._open is None or not said.keys().isdisjoint(self._open.said):
            self._close()
            self._open = _Record(number, len(self.log.times), None)
        if said and max(said.values()) > _MOST:
            beyond = max(said, key=lambda word: said[word])
            raise ValueError(f"`{beyond}` = {said[beyond]:g}: allowed is 0 to {_MOST:g}")
        if said and not self._open.said:
            # of several times the one at its own values: `ts` puts one before every line
            self._open.line, self._open.own = number, own if own is not None else self._open.own
        self._open.own = own if self._open.own is None else self._open.own
        self._open.said |= said

    def _close(self) -> None:
        record, self._open = self._open, None
        if record is not None and record.has_info and record.name != _LISTENER:
            self.log.records.append(record)

    def _time(self, stamp: Stamp, *, is_alone: bool) -> float | None:
        """Take in a time before or behind a block; return it, or None if its kind is not that of the log."""
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
    if not log.times and all(record.own is None for record in log.records):
        line = log.records[0].line
        raise UserError(f"{file}:{line}: no time before or behind it: needed is one for each `ss`, as of `date +%s.%N`")
    return log


def _timed(log: _Log) -> list[tuple[float, int, _Record]]:
    """Return each record that has a time, with the time and its number: those of one `ss` have the same."""
    alone = [number for number, (_, is_alone) in enumerate(log.times) if is_alone]
    first, last = log.records[0], log.records[-1]
    is_behind = (
        bool(alone)
        and len(alone) == len(log.times)
        and first.own is None
        and first.turn == 0
        and last.own is None
        and last.turn < len(log.times)
    )
    timed: list[tuple[float, int, _Record]] = []
    own = len(log.times)
    for record in log.records:
        turn = record.turn if is_behind else record.turn - 1
        if record.own is not None:
            own += 1
            timed.append((record.own, own, record))
        elif 0 <= turn < len(log.times):
            timed.append((log.times[turn][0], turn, record))
    if is_behind:
        log.notes.append("times stand behind what they are of")
    if len(timed) < len(log.records):
        log.notes.append(f"left out: {counted(len(log.records) - len(timed), 'line')} of ss without a time")
    if log.is_counted:
        log.notes.append("times are counted by the interval of watch: it does not tell when it called ss")
    elif not log.is_dated:
        log.notes.append("times have no date: when it was recorded is not known")
    if log.zones:
        log.notes.append(f"time zone {', '.join(sorted(log.zones))}: its offset is not told, times count as UTC")
    return timed


def _connections(file: Path, log: _Log) -> list[_Connection]:
    """Return the connections of a log, in the order in which they begin.

    Raises:
        UserError: If connections without addresses cannot be told apart (file and line).
    """
    timed = _timed(log)
    named = [each for each in timed if each[2].name is not None]
    if len(named) < len(timed) and named:
        log.notes.append(f"left out: {counted(len(timed) - len(named), 'line')} of ss without addresses")
    connections: dict[str, _Connection] = {}
    settled: list[_Connection] = []
    repeated = 0
    for at_s, turn, record, name in _with_names(file, log, named or timed):
        connection = connections.setdefault(name, _Connection(name))
        if fallen := connection.falls(record.said):
            if not named and record.said.get(fallen, 0.0) >= connection.said[0].get(fallen, 0.0):
                raise UserError(
                    f"{file}:{record.line}: `{fallen}` goes back, and without addresses this may be the same "
                    "connection or another one: log the lines with the addresses, too"
                )
            # the same ports again: another connection
            settled.append(connection)
            connection = connections[name] = _Connection(name)
        if turn == connection.turn or (not log.is_whole and at_s <= (connection.time_s or [float("-inf")])[-1]):
            repeated += 1
            continue
        connection.turn = turn
        connection.time_s.append(at_s)
        connection.said.append(record.said)
    if repeated:
        log.notes.append(f"left out: {counted(repeated, 'line')} of ss with the time of the one before")
    found = [*settled, *connections.values()]
    if log.is_whole:
        spread = [_spread(connection.time_s) for connection in found]
        if spread != [connection.time_s for connection in found]:
            log.notes.append("times are whole seconds: the lines of a second are spread over it evenly")
        for connection, times in zip(found, spread, strict=True):
            connection.time_s = times
    return sorted(found, key=lambda connection: connection.time_s[0])


def _with_names(
    file: Path, log: _Log, timed: Sequence[tuple[float, int, _Record]]
) -> Iterator[tuple[float, int, _Record, str]]:
    """Yield each record with the name of its connection: where there are no addresses, its place among those of a time.

    Raises:
        UserError: If there are several at a time, and not always as many.
    """
    if timed and timed[0][2].name is not None:
        yield from ((at_s, turn, record, record.name or "") for at_s, turn, record in timed)
        return
    places: Counter[int] = Counter()
    total = Counter(turn for _, turn, _ in timed)
    most = max(total.values(), default=0)
    uneven = next((turn for turn, count in total.items() if count != most), None)
    if uneven is not None:
        line = next(record.line for _, turn, record in timed if turn == uneven)
        raise UserError(
            f"{file}:{line}: {counted(total[uneven], 'connection')}, and {most} at another time: without addresses "
            "they cannot be told apart: log the lines with the addresses, too"
        )
    if most > 1:
        log.notes.append("connections have no addresses: they are told apart by their order")
    else:
        log.notes.append("the log has no addresses: all of it is taken for one connection after another")
    for at_s, turn, record in timed:
        places[turn] += 1
        yield at_s, turn, record, f"connection {places[turn]} of those without addresses"


def _spread(times: list[float]) -> list[float]:
    """Return times of whole seconds, where each second has several, spread over it evenly."""
    counts = Counter(times)
    if len(counts) < 2 or len(counts) == len(times):
        return times
    seconds = sorted(counts)
    usual = median(counts[second] for second in seconds[1:-1]) if len(seconds) > 2 else max(counts.values())
    spread = []
    for second in seconds:
        count = counts[second]
        parts = max(count, round(usual))
        # in the first second logging may have begun late
        begin = parts - count if second == seconds[0] else 0
        spread += [second + (begin + place) / parts for place in range(count)]
    return spread


def _words(text: str) -> dict[str, float]:
    """Return what a line says of a connection; `name.2` is what stands behind a slash."""
    said: dict[str, float] = {}
    for word, first, second in _WORD.findall(text):
        try:
            said[word] = float(first)
            if second:
                said[f"{word}.2"] = float(second)
        except ValueError:
            continue
    rate = text.find("_rate ")
    if rate >= 0:
        # Rates stand behind most words: to look for them from there on takes half the time.
        for word, value, unit in _RATE.findall(text, max(rate - len("delivery"), 0)):
            if value.count(".") < 2 and value != ".":
                said[word] = float(value) * _FACTOR[unit]
    return said


def _samples(said: dict[str, float], is_receiver: bool, words: set[str]) -> Iterator[tuple[str, str, float]]:
    """Yield one moment of a connection as field, unit and value; `words` are those that the log has anywhere."""
    mss = said.get("mss")
    if "cwnd" in said:
        yield "cwnd", "packets", said["cwnd"]
        if mss is not None:
            yield "window", "bytes", said["cwnd"] * mss
    if "rto" in words:
        # Linux v6.12, include/net/tcp.h, tcp_packets_in_flight
        in_flight = said.get("unacked", 0) - said.get("sacked", 0) - said.get("lost", 0) + said.get("retrans", 0)
        if mss is not None:
            yield "in_flight", "bytes", max(in_flight, 0) * mss
        yield "retransmissions", "packets", said.get("retrans.2", 0)
    if words & {"bytes_acked", "bytes_received"}:
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
