"""Importer of flent's results (`.flent`, `.flent.gz`): rates, pings and TCP_INFO of its flows over time.

A flow is a series that flent measured in Mbit/s. Series that flent computed from others are left out.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import NotRequired, TypedDict, cast

from dumbbell import core
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_text import BadJson, parse_json
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

NOTES = """\
Imported from results of flent: rates, pings and TCP_INFO over time, as netperf and other tools told flent. There are no
packets in it, so there is no one-way delay and no loss of these flows.
"""
SUFFIXES = (".flent", ".gz")
_RATE_UNITS = {"Mbits/s", "Mbit/s"}
_COMPUTED = ("avg", "sum", "totals", "total", "fairness", "mean", "median")
"""Last words in the names of series that flent computes from others."""
_COMPUTING = ("Average", "Sum", "Diff", "Comput", "Fairness")
"""Prefixes in the names of flent's runners that compute series."""
_TCP_INFO = {
    "tcp_rtt": ("srtt", "ms"),
    "tcp_rtt_var": ("rttvar", "ms"),
    "tcp_cwnd": ("cwnd", "packets"),
    "tcp_delivery_rate": ("delivery_rate", "Mbit/s"),
    "tcp_pacing_rate": ("pacing_rate", "Mbit/s"),
}
_MOST_FLOWS = 256
_MOST = 2.0**53
"""Maximum value. Up to it, a float represents every whole number exactly."""
_MOST_APART = 0.05
"""Maximum difference of a total from the sum of its intervals without a note, as a fraction."""


_Entry = Mapping[str, object]
"""Value of a tool (`val`), its time (`t`, s), length of its interval (`dur`) and TCP_INFO by flent's names."""


class _Metadata(TypedDict, total=False):
    """Metadata of a test."""

    SERIES_META: dict[str, dict[str, object]]
    T0: str


class _Result(TypedDict):
    """Result of flent: the parts that are read. Code that uses a part refuses one of another type."""

    metadata: _Metadata
    results: dict[str, list[float | None]]
    x_values: list[float]
    raw_values: NotRequired[dict[str, list[_Entry]]]


@dataclass
class _Series:
    """Series of flent: times in s, values, and for rates the length of each interval in s."""

    name: str
    facts: Mapping[str, object]
    at_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lasts_s: list[float] = field(default_factory=list)
    tcp_info: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """TCP_INFO by flent's name: times (s) and values."""

    @property
    def is_received(self) -> bool:
        """Return True if flent's host received the data, so that it counted arrivals."""
        return "download" in self.name.lower()

    @property
    def begin_s(self) -> float:
        """Start of the first interval, s."""
        return self.at_s[0] - self.lasts_s[0]

    @property
    def sum_bytes(self) -> float:
        """Sum of all intervals, bytes."""
        return sum(value * lasts_s for value, lasts_s in zip(self.values, self.lasts_s, strict=True)) * 1e6 / 8.0

    def take(self, at_s: float, value: float, lasts_s: float) -> None:
        """Append a value, timed at the end of its interval."""
        if value < 0.0 or lasts_s < 0.0:
            raise ValueError(f"series {self.name[:60]!r}: {value:g} in {lasts_s:g} s: allowed is 0 and more")
        self.at_s.append(at_s)
        self.values.append(value)
        self.lasts_s.append(lasts_s)

    def number(self, key: str) -> float | None:
        """Return a fact that is a number of at least 0, else None: tools write -1 for unknown values."""
        try:
            value = _finite(self.facts[key])
        except (KeyError, TypeError, ValueError):
            return None
        return value if 0.0 <= value <= _MOST else None


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a result of flent, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (with the file and the reason), or `out` is in use.
    """
    return import_traces(request, kind="flent", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    return [_trace(label_of(stem_of(file), used, "flent"), file, folder / "flows.parquet")]


def _trace(label: str, file: Path, samples: Path) -> Trace:
    result = _result(file)
    try:
        rates, pings, is_absolute = _series(result)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what flent writes: {one_line(error)}") from None
    if not rates:
        names = ", ".join(sorted(str(name)[:60] for name in result["results"])[:5]) or "none"
        raise UserError(f"{file}: has no series of a rate in Mbits/s: nothing to import (series: {names})")
    if len(rates) > _MOST_FLOWS:
        raise UserError(f"{file}: has {len(rates)} flows: allowed are {_MOST_FLOWS}")
    first_s = min([*(series.begin_s for series in rates), *(series.at_s[0] for series in pings)])
    start = started_at(file, first_s) if is_absolute else _zero(result["metadata"])
    rows: list[Row] = []
    notes = [*_flow_notes(rates)]
    flows: list[TracedFlow] = []
    for number, series in enumerate(rates, 1):
        flow_rows = list(_samples(series, number, first_s))
        rows += flow_rows
        stop_s = max(time_ns for time_ns, *_ in flow_rows) / 1e9
        flows.append(TracedFlow(number, max(series.begin_s - first_s, 0.0), stop_s))
    last_s = max(flow.stop_s or 0.0 for flow in flows)
    require_length(file.name, last_s)
    for number, ping in enumerate(pings, 1):
        # A ping is no data flow: its samples are listed with the first flow.
        name = "ping" if len(pings) == 1 else f"ping_{number}"
        rows += [
            (round((at_s - first_s) * 1e9), 1, name, "ms", value)
            for at_s, value in zip(ping.at_s, ping.values, strict=True)
        ]
        notes.append(f"samples `{name}` of flow 1 are {ping.name}: {fmean(ping.values):.4g} ms on average")
    if unused_names := _unused_names(result, [*rates, *pings]):
        notes.append(
            f"left out: {len(unused_names)} series that are no rate of a flow and no ping, as {unused_names[0][:60]}"
        )
    rows.sort()
    core.write_samples(str(samples), rows)
    metadata = result["metadata"]
    return Trace(
        label=label,
        source=file.name,
        flows=tuple(flows),
        samples=samples,
        last_s=last_s,
        events=len(rows),
        tells=UNTOLD,
        facts={
            "test": metadata.get("NAME"),
            "title": metadata.get("TITLE"),
            "version": metadata.get("FLENT_VERSION"),
            "series": [series.name for series in rates],
            "congestion_control": [series.facts.get("CONG_CONTROL") for series in rates],
            "pings": [_ping_facts(series) for series in pings],
        },
        notes=tuple(notes),
        start_time=start,
    )


def _result(file: Path) -> _Result:
    """Return the JSON of a result file, which may be compressed.

    Raises:
        UserError: If it is no result of flent.
    """
    text = read_log(file)
    try:
        result = parse_json(text)
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    keys = ("metadata", "results", "x_values")
    if not isinstance(result, dict) or not all(key in result for key in keys):
        raise UserError(f"{file}: is no result of flent: needed are the keys {', '.join(keys)}")
    if not isinstance(result["metadata"], dict) or not isinstance(result["results"], dict):
        raise UserError(f"{file}: is no result of flent: `metadata` and `results` are objects")
    return cast("_Result", result)


def _series(result: _Result) -> tuple[list[_Series], list[_Series], bool]:
    """Return the series of rates, the series of pings, and True if their times are seconds since 1970.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: If the result is not what flent writes.
    """
    raw = result.get("raw_values") or {}
    facts = result["metadata"].get("SERIES_META") or {}
    rates: list[_Series] = []
    pings: list[_Series] = []
    is_absolute = any(raw.values())
    # flent's common times count from the first of all values.
    zero_s = min((_finite(entry["t"]) for entries in raw.values() for entry in entries), default=0.0)
    for name in result["results"]:
        series = _Series(name, facts.get(name) or {})
        if _is_computed(series):
            continue
        if name.startswith("Ping"):
            _take_values(series, result, zero_s, is_rate=False)
            pings += [series] if series.at_s else []
        elif series.facts.get("UNITS") in _RATE_UNITS or (
            "UNITS" not in series.facts and name.startswith(("TCP", "UDP"))
        ):
            if is_absolute:
                _take_raw(series, raw.get(name) or [])
            else:
                _take_values(series, result, zero_s, is_rate=True)
            rates += [series] if series.at_s else []
    return rates, pings, is_absolute


def _unused_names(result: _Result, used: Sequence[_Series]) -> list[str]:
    """Return the names of unused series, except for those that flent computed from others."""
    names = {series.name for series in used}
    return sorted(name for name in result["results"] if name not in names and not _is_computed(_Series(name, {})))


def _is_computed(series: _Series) -> bool:
    """Return True if flent computed the series from others, or if it is a part of another series."""
    runner = str(series.facts.get("RUNNER") or "")
    last = re.split(r"::| ", series.name.lower())[-1]
    return last in _COMPUTED or last.startswith("tcp_") or runner.startswith(_COMPUTING)


def _take_raw(series: _Series, entries: Sequence[_Entry]) -> None:
    """Read the values as the tool reported them, with the length of each interval."""
    before: float | None = None
    for entry in sorted(entries, key=lambda entry: _finite(entry["t"])):
        at_s = _finite(entry["t"])
        for word in _TCP_INFO:
            if entry.get(word) is not None:
                series.tcp_info.setdefault(word, []).append((at_s, _finite(entry[word])))
        if entry.get("val") is None:
            continue
        since_s = at_s if before is None else before
        series.take(at_s, _finite(entry["val"]), _finite(entry.get("dur", at_s - since_s)))
        before = at_s


def _take_values(series: _Series, result: _Result, zero_s: float, *, is_rate: bool) -> None:
    """Read the values at flent's common times. A rate belongs to the time after it."""
    times = [_finite(at_s) for at_s in result["x_values"]]
    if times != sorted(times):
        raise ValueError("`x_values` go back")
    steps = [later - at_s for at_s, later in itertools.pairwise(times) if later > at_s]
    step_s = min(steps, default=0.0) if is_rate else 0.0
    for at_s, value in zip(times, result["results"][series.name], strict=False):
        if value is not None:
            series.take(zero_s + at_s + step_s, _finite(value), step_s)
    for word in _TCP_INFO:
        numbers = result["results"].get(f"{series.name}::{word}") or []
        pairs = [
            (zero_s + at_s, _finite(value)) for at_s, value in zip(times, numbers, strict=False) if value is not None
        ]
        if pairs:
            series.tcp_info[word] = pairs


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number) or abs(number) > _MOST:
        raise ValueError(f"a value of {number:g}: allowed are numbers up to {_MOST:g}")
    return number


def _samples(series: _Series, number: int, first_s: float) -> Iterator[Row]:
    """Yield the samples of a flow over time, and its totals at its end."""

    def row(at_s: float, name: str, unit: str, value: float) -> Row:
        return round(max(at_s - first_s, 0.0) * 1e9), number, name, unit, value

    total = 0.0
    mss = series.number("TCP_MSS")
    is_tcp = not series.name.upper().startswith("UDP")
    reported_total = _delivered(series)
    by_interval = series.is_received and reported_total is None and is_tcp
    yield row(series.begin_s, "transferred", "bytes", 0.0)
    if reported_total or by_interval:
        yield row(series.begin_s, "delivered", "bytes", 0.0)
    for at_s, value, lasts_s in zip(series.at_s, series.values, series.lasts_s, strict=True):
        total += value * lasts_s * 1e6 / 8.0
        yield row(at_s, "transferred", "bytes", total)
        # The intervals give the course, the reported total gives the end.
        if by_interval or (series.is_received and reported_total and at_s < series.begin_s + reported_total[1]):
            yield row(at_s, "delivered", "bytes", min(total, reported_total[0]) if reported_total else total)
    if reported_total:
        yield row(series.begin_s + reported_total[1], "delivered", "bytes", reported_total[0])
    if (resent := _retransmissions(series)) is not None:
        yield row(series.begin_s, "retransmissions", "packets", 0.0)
        yield row(max(series.at_s[-1], series.begin_s), "retransmissions", "packets", resent)
    for word, (name, unit) in _TCP_INFO.items():
        for at_s, value in series.tcp_info.get(word, []):
            if value > 0.0:
                yield row(at_s, name, unit, value)
                if name == "cwnd" and mss:
                    yield row(at_s, "window", "bytes", value * mss)


def _delivered(series: _Series) -> tuple[float, float] | None:
    """Return the bytes that the receiver got and the time in s, from a total in the file; None without one.

    netperf ends when the receiver has everything, so its mean is one of what arrived, at both ends.
    """
    if not series.name.upper().startswith("TCP") or str(series.facts.get("RUNNER") or "").startswith("Iperf"):
        return None
    received_bytes, in_s = series.number("BYTES_RECVD"), series.number("ELAPSED_TIME")
    if received_bytes and in_s:
        return received_bytes, in_s
    mean_mbps, in_s = series.number("MEAN_VALUE"), series.at_s[-1] - series.begin_s
    if mean_mbps is None or in_s <= 0.0:
        return None
    # The mean covers the time until the receiver had everything, maybe long after the last interval.
    in_s = max(in_s, series.sum_bytes * 8e-6 / mean_mbps) if mean_mbps else in_s
    return mean_mbps * in_s * 1e6 / 8.0, in_s


def _retransmissions(series: _Series) -> float | None:
    """Return the number of retransmissions by the sender's kernel; None if unknown (flent may write 0 then)."""
    count = series.number("TCP_RETRANSMIT")
    return None if count is None or (series.is_received and count == 0) else count


def _flow_notes(rates: Sequence[_Series]) -> Iterator[str]:
    """Yield notes on the flows."""
    yield from (f"flow {number} is {series.name}" for number, series in enumerate(rates, 1))
    sender_flows, apart, no_mss = [], [], []
    for number, series in enumerate(rates, 1):
        reported_total = _delivered(series)
        if reported_total is None and not (series.is_received and series.name.upper().startswith("TCP")):
            sender_flows.append(f"{number} ({series.sum_bytes / 1e6:.4g} MB)")
        if reported_total and abs(series.sum_bytes - reported_total[0]) > _MOST_APART * max(
            series.sum_bytes, reported_total[0]
        ):
            apart.append(f"{number} ({series.sum_bytes / 1e6:.4g} instead of {reported_total[0] / 1e6:.4g} MB)")
        if "tcp_cwnd" in series.tcp_info and series.number("TCP_MSS") is None:
            no_mss.append(str(number))
    if sender_flows:
        yield f"the sender alone tells of flow {', '.join(sender_flows)}: what arrived is not known"
    if apart:
        yield f"intervals do not add up to the total, which goodput is of: flow {', '.join(apart)}"
    if no_mss:
        yield f"segments have an unknown length, so that the window is in segments alone: flow {', '.join(no_mss)}"


def _ping_facts(series: _Series) -> dict[str, object]:
    return {
        "series": series.name,
        "count": len(series.values),
        "min_ms": min(series.values),
        "mean_ms": fmean(series.values),
        "max_ms": max(series.values),
    }


def _zero(metadata: _Metadata) -> datetime | None:
    """Return the start of the test, or None if the file has none with a time zone."""
    try:
        moment = datetime.fromisoformat(str(metadata.get("T0")))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
