"""Results of flent (`.flent`, `.flent.gz`): rates, pings and TCP_INFO of its flows over time.

A flow is a series that flent measured in Mbit/s. What flent computed of several series is left out.
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
"""Last words of the names of series that flent computed of others."""
_COMPUTING = ("Average", "Sum", "Diff", "Comput", "Fairness")
"""Beginnings of the names of flent's runners that compute."""
_TOLD = {
    "tcp_rtt": ("srtt", "ms"),
    "tcp_rtt_var": ("rttvar", "ms"),
    "tcp_cwnd": ("cwnd", "packets"),
    "tcp_delivery_rate": ("delivery_rate", "Mbit/s"),
    "tcp_pacing_rate": ("pacing_rate", "Mbit/s"),
}
_MOST_FLOWS = 256
_MOST = 2.0**53
"""Largest value: up to it every whole number is one of its own."""
_MOST_APART = 0.05
"""Largest part by which a total may differ from the sum of its intervals without a note."""


_Entry = Mapping[str, object]
"""A value of a tool (`val`), its time (`t`, s), the length of its interval (`dur`) and TCP_INFO by flent's words."""


class _Metadata(TypedDict, total=False):
    """What flent says of a test."""

    SERIES_META: dict[str, dict[str, object]]
    T0: str


class _Result(TypedDict):
    """A result of flent, as far as it is read; what is something else is refused where it is used."""

    metadata: _Metadata
    results: dict[str, list[float | None]]
    x_values: list[float]
    raw_values: NotRequired[dict[str, list[_Entry]]]


@dataclass
class _Series:
    """A series of flent: times in s, values, and for rates the length of each interval in s."""

    name: str
    facts: Mapping[str, object]
    at_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lasts_s: list[float] = field(default_factory=list)
    told: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """TCP_INFO by flent's word: times and values."""

    @property
    def is_received(self) -> bool:
        """Return whether flent's host received the data, and so counted what arrived."""
        return "download" in self.name.lower()

    @property
    def begin_s(self) -> float:
        """Begin of the first interval, s."""
        return self.at_s[0] - self.lasts_s[0]

    @property
    def sum_bytes(self) -> float:
        """Bytes of all intervals together."""
        return sum(value * lasts_s for value, lasts_s in zip(self.values, self.lasts_s, strict=True)) * 1e6 / 8.0

    def take(self, at_s: float, value: float, lasts_s: float) -> None:
        """Take in a value that stands at the end of an interval."""
        if value < 0.0 or lasts_s < 0.0:
            raise ValueError(f"series {self.name[:60]!r}: {value:g} in {lasts_s:g} s: allowed is 0 and more")
        self.at_s.append(at_s)
        self.values.append(value)
        self.lasts_s.append(lasts_s)

    def number(self, key: str) -> float | None:
        """Return a fact that is a number of at least 0, if there is one: tools write -1 for what they do not know."""
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
        found, pings, is_absolute = _series(result)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file}: is not what flent writes: {one_line(error)}") from None
    if not found:
        names = ", ".join(sorted(str(name)[:60] for name in result["results"])[:5]) or "none"
        raise UserError(f"{file}: has no series of a rate in Mbits/s: nothing to import (series: {names})")
    if len(found) > _MOST_FLOWS:
        raise UserError(f"{file}: has {len(found)} flows: allowed are {_MOST_FLOWS}")
    first_s = min([*(one.begin_s for one in found), *(one.at_s[0] for one in pings)])
    started = started_at(file, first_s) if is_absolute else _zero(result["metadata"])
    rows: list[Row] = []
    notes = [*_flow_notes(found)]
    flows: list[TracedFlow] = []
    for number, one in enumerate(found, 1):
        own = list(_samples(one, number, first_s))
        rows += own
        stop_s = max(time_ns for time_ns, *_ in own) / 1e9
        flows.append(TracedFlow(number, max(one.begin_s - first_s, 0.0), stop_s))
    last_s = max(flow.stop_s or 0.0 for flow in flows)
    require_length(file.name, last_s)
    for number, ping in enumerate(pings, 1):
        # a ping is no flow of data: its samples stand with the first flow
        name = "ping" if len(pings) == 1 else f"ping_{number}"
        rows += [
            (round((at_s - first_s) * 1e9), 1, name, "ms", value)
            for at_s, value in zip(ping.at_s, ping.values, strict=True)
        ]
        notes.append(f"samples `{name}` of flow 1 are {ping.name}: {fmean(ping.values):.4g} ms on average")
    if others := _others(result, [*found, *pings]):
        notes.append(f"left out: {len(others)} series that are no rate of a flow and no ping, as {others[0][:60]}")
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
            "series": [one.name for one in found],
            "congestion_control": [one.facts.get("CONG_CONTROL") for one in found],
            "pings": [_ping_facts(one) for one in pings],
        },
        notes=tuple(notes),
        started=started,
    )


def _result(file: Path) -> _Result:
    """Return the JSON of a result, which may be compressed.

    Raises:
        UserError: If it is no result of flent.
    """
    text = read_log(file)
    try:
        result = parse_json(text)
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    needed = ("metadata", "results", "x_values")
    if not isinstance(result, dict) or not all(key in result for key in needed):
        raise UserError(f"{file}: is no result of flent: needed are the keys {', '.join(needed)}")
    if not isinstance(result["metadata"], dict) or not isinstance(result["results"], dict):
        raise UserError(f"{file}: is no result of flent: `metadata` and `results` are objects")
    return cast("_Result", result)


def _series(result: _Result) -> tuple[list[_Series], list[_Series], bool]:
    """Return the series of rates, those of pings, and whether their times are seconds since 1970.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: If the result is not what flent writes.
    """
    raw = result.get("raw_values") or {}
    facts = result["metadata"].get("SERIES_META") or {}
    rates: list[_Series] = []
    pings: list[_Series] = []
    is_absolute = any(raw.values())
    # flent's common times count from the first of all values
    zero_s = min((_finite(entry["t"]) for entries in raw.values() for entry in entries), default=0.0)
    for name in result["results"]:
        one = _Series(name, facts.get(name) or {})
        if _is_computed(one):
            continue
        if name.startswith("Ping"):
            _take_values(one, result, zero_s, is_rate=False)
            pings += [one] if one.at_s else []
        elif one.facts.get("UNITS") in _RATE_UNITS or ("UNITS" not in one.facts and name.startswith(("TCP", "UDP"))):
            if is_absolute:
                _take_raw(one, raw.get(name) or [])
            else:
                _take_values(one, result, zero_s, is_rate=True)
            rates += [one] if one.at_s else []
    return rates, pings, is_absolute


def _others(result: _Result, taken: Sequence[_Series]) -> list[str]:
    """Return the names of series that are not taken, except for those that flent computed of others."""
    names = {one.name for one in taken}
    return sorted(name for name in result["results"] if name not in names and not _is_computed(_Series(name, {})))


def _is_computed(one: _Series) -> bool:
    """Return whether flent computed a series of others, or it is a part of another one."""
    runner = str(one.facts.get("RUNNER") or "")
    last = re.split(r"::| ", one.name.lower())[-1]
    return last in _COMPUTED or last.startswith("tcp_") or runner.startswith(_COMPUTING)


def _take_raw(one: _Series, entries: Sequence[_Entry]) -> None:
    """Take the values as the tool told them, with the length of each interval."""
    before: float | None = None
    for entry in sorted(entries, key=lambda entry: _finite(entry["t"])):
        at_s = _finite(entry["t"])
        for word in _TOLD:
            if entry.get(word) is not None:
                one.told.setdefault(word, []).append((at_s, _finite(entry[word])))
        if entry.get("val") is None:
            continue
        since_s = at_s if before is None else before
        one.take(at_s, _finite(entry["val"]), _finite(entry.get("dur", at_s - since_s)))
        before = at_s


def _take_values(one: _Series, result: _Result, zero_s: float, *, is_rate: bool) -> None:
    """Take the values at flent's common times; a rate is that of the time after it."""
    times = [_finite(at_s) for at_s in result["x_values"]]
    if times != sorted(times):
        raise ValueError("`x_values` go back")
    steps = [later - at_s for at_s, later in itertools.pairwise(times) if later > at_s]
    step_s = min(steps, default=0.0) if is_rate else 0.0
    for at_s, value in zip(times, result["results"][one.name], strict=False):
        if value is not None:
            one.take(zero_s + at_s + step_s, _finite(value), step_s)
    for word in _TOLD:
        told = result["results"].get(f"{one.name}::{word}") or []
        pairs = [(zero_s + at_s, _finite(value)) for at_s, value in zip(times, told, strict=False) if value is not None]
        if pairs:
            one.told[word] = pairs


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number) or abs(number) > _MOST:
        raise ValueError(f"a value of {number:g}: allowed are numbers up to {_MOST:g}")
    return number


def _samples(one: _Series, number: int, first_s: float) -> Iterator[Row]:
    """Yield what is known of a flow over time, and its totals at its end."""

    def row(at_s: float, name: str, unit: str, value: float) -> Row:
        return round(max(at_s - first_s, 0.0) * 1e9), number, name, unit, value

    total = 0.0
    mss = one.number("TCP_MSS")
    is_tcp = not one.name.upper().startswith("UDP")
    stated = _delivered(one)
    by_interval = one.is_received and stated is None and is_tcp
    yield row(one.begin_s, "transferred", "bytes", 0.0)
    if stated or by_interval:
        yield row(one.begin_s, "delivered", "bytes", 0.0)
    for at_s, value, lasts_s in zip(one.at_s, one.values, one.lasts_s, strict=True):
        total += value * lasts_s * 1e6 / 8.0
        yield row(at_s, "transferred", "bytes", total)
        # the course is that of the intervals, the end is the total that the file states
        if by_interval or (one.is_received and stated and at_s < one.begin_s + stated[1]):
            yield row(at_s, "delivered", "bytes", min(total, stated[0]) if stated else total)
    if stated:
        yield row(one.begin_s + stated[1], "delivered", "bytes", stated[0])
    if (resent := _retransmissions(one)) is not None:
        yield row(one.begin_s, "retransmissions", "packets", 0.0)
        yield row(max(one.at_s[-1], one.begin_s), "retransmissions", "packets", resent)
    for word, (name, unit) in _TOLD.items():
        for at_s, value in one.told.get(word, []):
            if value > 0.0:
                yield row(at_s, name, unit, value)
                if name == "cwnd" and mss:
                    yield row(at_s, "window", "bytes", value * mss)


def _delivered(one: _Series) -> tuple[float, float] | None:
    """Return what the receiver got, bytes, and in how many s: a total that the file states.

    netperf ends when the receiver has everything, so its mean is one of what arrived, at both ends.
    """
    if not one.name.upper().startswith("TCP") or str(one.facts.get("RUNNER") or "").startswith("Iperf"):
        return None
    received, in_s = one.number("BYTES_RECVD"), one.number("ELAPSED_TIME")
    if received and in_s:
        return received, in_s
    mean_mbps, in_s = one.number("MEAN_VALUE"), one.at_s[-1] - one.begin_s
    if mean_mbps is None or in_s <= 0.0:
        return None
    # the mean is over the time until the receiver had everything, which may be long after the last interval
    in_s = max(in_s, one.sum_bytes * 8e-6 / mean_mbps) if mean_mbps else in_s
    return mean_mbps * in_s * 1e6 / 8.0, in_s


def _retransmissions(one: _Series) -> float | None:
    """Return how many segments the sender's kernel retransmitted; flent writes 0 where netperf did not tell it."""
    count = one.number("TCP_RETRANSMIT")
    return None if count is None or (one.is_received and count == 0) else count


def _flow_notes(found: Sequence[_Series]) -> Iterator[str]:
    """Yield what is special about flows."""
    yield from (f"flow {number} is {one.name}" for number, one in enumerate(found, 1))
    handed, apart, unscaled = [], [], []
    for number, one in enumerate(found, 1):
        stated = _delivered(one)
        if stated is None and not (one.is_received and one.name.upper().startswith("TCP")):
            handed.append(f"{number} ({one.sum_bytes / 1e6:.4g} MB)")
        if stated and abs(one.sum_bytes - stated[0]) > _MOST_APART * max(one.sum_bytes, stated[0]):
            apart.append(f"{number} ({one.sum_bytes / 1e6:.4g} instead of {stated[0] / 1e6:.4g} MB)")
        if "tcp_cwnd" in one.told and one.number("TCP_MSS") is None:
            unscaled.append(str(number))
    if handed:
        yield f"the sender alone tells of flow {', '.join(handed)}: what arrived is not known"
    if apart:
        yield f"intervals do not add up to the total, which goodput is of: flow {', '.join(apart)}"
    if unscaled:
        yield f"segments have an unknown length, so that the window is in segments alone: flow {', '.join(unscaled)}"


def _ping_facts(one: _Series) -> dict[str, object]:
    return {
        "series": one.name,
        "count": len(one.values),
        "min_ms": min(one.values),
        "mean_ms": fmean(one.values),
        "max_ms": max(one.values),
    }


def _zero(metadata: _Metadata) -> datetime | None:
    """Return when the test began, if the file says so with a time zone."""
    try:
        moment = datetime.fromisoformat(str(metadata.get("T0")))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
