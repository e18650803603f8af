"""Pantheon's statistics files: reading of times and clock offsets, writing of the whole text."""

from __future__ import annotations

import contextlib
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.backend import find_backend
from dumbbell.base.errors import UserError
from dumbbell.formats.pantheon_metadata import shortened
from dumbbell.formats.pantheon_text import read_text

if TYPE_CHECKING:
    from dumbbell.contract.run import ImportTimes, RunTable
    from dumbbell.contract.statistics import FlowStats, NetworkStats


@dataclass(frozen=True)
class RunTimes:
    """Start and end of a run, UTC, and the clock offsets of its ends, ms."""

    started: str | None = None
    ended: str | None = None
    local_offset_ms: float | None = None
    remote_offset_ms: float | None = None


def times_of(times: ImportTimes) -> RunTimes:
    """Return the times of an imported run from its statistics."""
    offsets = times.get("local_offset_ms"), times.get("remote_offset_ms")
    return RunTimes(times.get("started"), times.get("ended"), *offsets)


def recorded_times(content: RunTable, duration_s: float) -> RunTimes:
    """Return the times of a run from its statistics.

    A simulated run starts when its computation starts, and ends `duration_s` of simulated time later. Its ends have one
    clock, so their offsets are zero.
    """
    if "imported" in content:
        return times_of(content["imported"])
    start_text = content.get("started_at")
    if find_backend(str(content["backend"])).capabilities.virtual_time:
        return simulated_times(_pantheon_form(start_text), duration_s)
    return RunTimes(_pantheon_form(start_text), _pantheon_form(content.get("ended_at")))


def simulated_times(start_text: str | None, duration_s: float) -> RunTimes:
    """Return the times of a simulated run with this start. Its end is unknown if `start_text` is no time."""
    end_text = None
    with contextlib.suppress(ValueError, OverflowError):
        if start_text:
            end_text = stamp(datetime.datetime.fromisoformat(start_text) + datetime.timedelta(seconds=duration_s))
    return RunTimes(start_text, end_text, 0.0, 0.0)


def stamp(time: datetime.datetime) -> str:
    """Return a time in Pantheon's form."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _pantheon_form(moment: str | None) -> str | None:
    """Return `2026-01-02T03:04:05Z` as `2026-01-02 03:04:05`."""
    return None if not moment else str(moment).replace("T", " ").removesuffix("Z").removesuffix("+00:00")


_LINE = re.compile(r"(Start at|End at|Local clock offset|Remote clock offset): (.*)")
_MOST_OFFSET_MS = 1e9


def read_times(file: Path, strict: bool = False) -> tuple[RunTimes | None, list[str]]:
    """Return start, end and clock offsets (None without a file), and remarks on unusual lines as `FILE:LINE: ...`.

    Raises:
        UserError: If the file cannot be read, or if `strict` and a line is unusual; the message has file:line.
    """
    try:
        text, odd = read_text(file, strict)
    except FileNotFoundError:
        return None, []
    except UserError as error:
        if strict:
            raise
        return RunTimes(), [str(error)]
    times: dict[str, str] = {}
    offsets: dict[str, float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        key, value, place = match[1], match[2].strip(), f"{file}:{number}"
        try:
            if key.endswith("offset"):
                offsets[key] = _offset(value)
            else:
                times[key] = _time(value)
        except ValueError as error:
            if strict:
                raise UserError(f"{place}: `{shortened(value)}`: expected {error}") from None
            odd.append(f"{place}: `{shortened(value)}` is left out: expected {error}")
    run_times = RunTimes(
        started=times.get("Start at"),
        ended=times.get("End at"),
        local_offset_ms=offsets.get("Local clock offset"),
        remote_offset_ms=offsets.get("Remote clock offset"),
    )
    return run_times, odd


_CAPACITY = re.compile(r"^Average capacity: ([0-9]{1,7}(?:\.[0-9]{1,6})?) Mbit/s", re.MULTILINE)


def read_capacity(file: Path) -> float | None:
    """Return the mean capacity of the data link that Pantheon's analysis wrote, Mbit/s; None if it is absent."""
    try:
        text, _ = read_text(file, strict=False)
    except (FileNotFoundError, UserError):
        return None
    match = _CAPACITY.search(text.partition("# Acklink statistics")[0])
    return float(match[1]) if match else None


def _time(value: str) -> str:
    """Return a time in Pantheon's form since 2017-08. Earlier versions wrote the form of e-mails."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", value):
        return value
    for read in (parsedate_to_datetime, datetime.datetime.fromisoformat):
        try:
            time = read(value)
            time = time if time.tzinfo is None else time.astimezone(datetime.UTC)
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
        if time.year >= 1970:  # a time without a date has no year
            return stamp(time)
    raise ValueError("a time as YYYY-MM-DD HH:MM:SS")


def _offset(value: str) -> float:
    expected = ValueError("a clock offset in ms, like `1.85 ms`")
    try:
        offset = float(value.removesuffix("ms").strip())
    except ValueError:
        raise expected from None
    if not abs(offset) <= _MOST_OFFSET_MS:
        raise expected
    return offset


def stats_text(times: RunTimes, run: RunTable, time_text: str) -> str:
    """Return the statistics file of a run, given as in `show --json`, exactly as Pantheon's analysis writes it."""
    time_lines = (("Start at", times.started), ("End at", times.ended))
    lines = [f"{name}: {time}" for name, time in time_lines if time is not None]
    for side, offset in (("Local", times.local_offset_ms), ("Remote", times.remote_offset_ms)):
        if offset is not None:
            lines.append(f"{side} clock offset: {offset} ms")
    lines += ["", f"# Below is generated by plot.py at {time_text}", "# Datalink statistics"]
    flows = logged_flows(run)
    lines.append(f"-- Total of {len(flows)} flow{'' if len(flows) == 1 else 's'}:")
    lines += _totals(run["network"])
    for flow in flows:
        lines.append(f"-- Flow {flow['flow']}:")
        lines += _values(flow, "")
    return "\n".join(lines) + "\n"


def logged_flows(run: RunTable) -> list[FlowStats]:
    """Return the flows with packets in the log: Pantheon has no others."""
    return [flow for flow in run["flows"] if _is_logged(flow)]


def _is_logged(flow: FlowStats) -> bool:
    """Return True if packets of a flow are known; if none are counted, True if its throughput is known."""
    counts = [flow.get("packets_sent"), flow.get("packets_delivered")]
    return flow.get("throughput_mbps") is not None if counts == [None, None] else any(counts)


def _totals(network: NetworkStats) -> Iterator[str]:
    utilization = ""
    capacity = network.get("capacity_mbps")
    if capacity:
        yield f"Average capacity: {capacity:.2f} Mbit/s"
        utilization = f" ({100 * (network.get('throughput_mbps') or 0.0) / capacity:.1f}% utilization)"
    yield from _values(network, utilization)


def _values(metrics: FlowStats | NetworkStats, utilization: str) -> Iterator[str]:
    if (throughput := metrics.get("throughput_mbps")) is not None:
        yield f"Average throughput: {throughput:.2f} Mbit/s{utilization}"
    if (delay := metrics.get("delay_p95_ms")) is not None:
        yield f"95th percentile per-packet one-way delay: {delay:.3f} ms"
    if (loss := metrics.get("loss_rate")) is not None:
        yield f"Loss rate: {100 * loss:.2f}%"
