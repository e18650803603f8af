"""Trace files of mahimahi for measured runs: found by the name in the metadata or logs, else by their content."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell.base.errors import UserError
from dumbbell.base.names import fitted
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.catalog.trace_files import located as trace_element, with_times
from dumbbell.formats.pantheon_metadata import shortened
from dumbbell.results.files import write_atomically

Numbers = NDArray[Any]

NAMED_RATE = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)mbps(?:[._-]trace)?", re.IGNORECASE)
"""Name of a trace that contains its rate."""
MARGIN = 0.05
"""Allowed relative difference between a rate and the capacity of a trace: both are means over different times."""
_MOST_BYTES = 64 << 20
"""Size limit of a trace, bytes: a trace of 1 Gbit/s and 60 s has 30 MB."""
_MOST_FILES = 200_000
_MOST_LEVELS = 8
_SNIFFED = re.compile(rb"\d{1,12}\r?\n[\d\r\n]*")
_SNIFFED_BYTES = 64
_BITS = 12_000.0
"""Bits that an opportunity carries: a packet of 1500 bytes."""


@dataclass(frozen=True)
class Trace:
    """A trace file: its path element and its opportunities."""

    file: Path
    element: Element
    times_ms: Numbers

    @property
    def rate_mbps(self) -> float:
        """Mean rate over one period."""
        return float(len(self.times_ms) * _BITS / self.times_ms[-1] / 1e3)

    def carries(self, capacity_mbps: float, duration_s: float) -> bool:
        """Return True if the trace may have this mean capacity in a run."""
        lowest, highest = rates(self.times_ms, duration_s)
        return lowest * (1.0 - MARGIN) <= capacity_mbps <= highest * (1.0 + MARGIN)


def rates(times_ms: Numbers, duration_s: float) -> tuple[float, float]:
    """Return the lowest and the highest mean rate of a repeated trace over a time like `duration_s`, Mbit/s.

    The highest one counts from a delivery to a delivery, as Pantheon's throughput does: the longest gap between
    opportunities may lie outside of the counted time.
    """
    times = np.asarray(times_ms, dtype=np.float64)
    period, length = float(times[-1]), duration_s * 1e3
    if not period or not length:
        return 0.0, float("inf")
    periods, rest = divmod(length, period)
    twice = np.concatenate([times, times + period])
    index = np.arange(len(times))
    after = twice[: len(times)] + rest
    most_opportunities = periods * len(times) + int((np.searchsorted(twice, after, "right") - index).max())
    # the interval begins just after an opportunity
    last = np.searchsorted(times, times, "right")
    least = periods * len(times) + max(int((np.searchsorted(twice, after, "left") - last).min()), 0)
    gap = float(np.diff(twice).max()) if len(twice) > 1 else period
    counted_ms = max(length - gap, length / 2.0)
    return least * _BITS / length / 1e3, most_opportunities * _BITS / counted_ms / 1e3


@dataclass(frozen=True)
class Clues:
    """Known properties of a link's trace, besides its name."""

    duration_s: float
    capacity_mbps: float | None = None
    """Mean capacity in the run, from the log by Pantheon's analysis."""
    fastest_mbps: float | None = None
    """Throughput of the fastest run over the link."""


@dataclass(frozen=True)
class TraceMatch:
    """The matching trace and its origin, or the reason for a missing trace."""

    trace: Trace | None
    explanation: str


class TraceFiles:
    """Candidate trace files: below the source of the measured sets, and below the directory of `--traces`.

    The files are untrusted: links are not followed, and file sizes and the depth of folders are limited.
    """

    def __init__(self, source: Path, sets: Iterable[Path], given_directory: Path | None, kept_directory: Path) -> None:
        if given_directory is not None and not given_directory.is_dir():
            raise UserError("no such directory", argument="traces", value=given_directory)
        self._source, self._sets, self._given, self._kept = source, tuple(sets), given_directory, kept_directory
        self._known: dict[Path, Trace | str] = {}

    def keep(self, name: str, times_ms: Numbers) -> Element:
        """Write opportunities, in whole ms, into a trace file and return its element of a path.

        An experiment file has no room for the opportunities of fast links: those of 1 Gbit/s are 5 million a minute.

        Raises:
            UserError: the file cannot be written.
        """
        file = self._kept / f"{fitted(name, 'link')}.trace"
        try:
            self._kept.mkdir(parents=True, exist_ok=True)
            write_atomically(file, "\n".join(map(str, times_ms.tolist())) + "\n")
        except OSError as error:
            raise UserError(f"{file}: {error.strerror or error}") from None
        return _element(file)

    def find(self, name: str, place: Path, clues: Clues) -> TraceMatch:
        """Return the trace with this name for the set in `place`.

        Files of `--traces` win, then those nearest to the set. A trace must have the logged capacity.
        """
        reasons = [] if name else ["the metadata name no trace"]
        base = PurePosixPath(name).name
        for files, is_near in self._with_name(base, place):
            traces, bad = self._read(files)
            fitting = [trace for trace in traces if _fits(trace, clues)]
            reasons += bad + [_unfit(trace, clues) for trace in traces if trace not in fitting]
            if not is_near and clues.capacity_mbps is None:
                reasons += [f"{_short_name(trace.file)} lies beside another set" for trace in fitting[:1]]
                continue
            likely = _likely(fitting, name, clues)
            if len(likely) == 1:
                return TraceMatch(likely[0], f"the trace file {_short_name(likely[0].file)}")
            if likely:
                reasons.append(f"{len(likely)} files with different content are called `{shortened(base)}`")
        if clues.capacity_mbps is not None and (trace := self._by_capacity(clues)) is not None:
            rate = f"{clues.capacity_mbps:g} Mbit/s"
            return TraceMatch(trace, f"the trace file {_short_name(trace.file)}, by the {rate} of the logged link")
        return TraceMatch(None, "; ".join(dict.fromkeys(reasons)) or f"no file is called `{shortened(base)}`")

    def _with_name(self, name: str, place: Path) -> Iterator[tuple[list[Path], bool]]:
        """Yield groups of files with a name, best first, each with False if the name alone links it to the set."""
        if not name:
            return
        yield [file for file in self._below_given if file.name == name], True
        below = [file for file in self._below_source if file.name == name]
        for above in _ancestors(place, self._source):
            inside = [file for file in below if above in file.parents]
            near = [file for file in inside if above == place or not self._is_in_other_sets(file, above, place)]
            if near or inside:
                yield (near, True) if near else (inside, False)
                return

    def _is_in_other_sets(self, file: Path, above: Path, place: Path) -> bool:
        """Return True if a file is in a directory with other sets, but without `place`."""
        child = above / file.relative_to(above).parts[0]
        return (
            place != child
            and child not in place.parents
            and any(child in other_set.parents for other_set in self._sets)
        )

    def _by_capacity(self, clues: Clues) -> Trace | None:
        """Return the trace of the logged capacity, if there is exactly one."""
        capacity = clues.capacity_mbps or 0.0
        traces = self._read(self._small)[0]
        fitting = [trace for trace in traces if abs(trace.rate_mbps - capacity) <= MARGIN * capacity]
        return fitting[0] if len(fitting) == 1 else None

    def _read(self, files: Sequence[Path]) -> tuple[list[Trace], list[str]]:
        """Return the traces among some files, one for each content, and the reasons why other files are not traces."""
        traces: dict[str, Trace] = {}
        bad = []
        for file in files:
            if file not in self._known:
                self._known[file] = _read(file)
            result = self._known[file]
            if isinstance(result, str):
                bad.append(result)
            else:
                traces.setdefault(result.element["sha256"], result)
        return list(traces.values()), bad

    @cached_property
    def _small(self) -> list[Path]:
        """Files that look like traces, up to a total size, since no name selects them."""
        files, left = [], _MOST_BYTES
        for file in (*self._below_given, *self._below_source):
            if (size := _size_of_trace(file)) and size <= left:
                files.append(file)
                left -= size
        return files

    @cached_property
    def _below_source(self) -> list[Path]:
        return list(_files(self._source))

    @cached_property
    def _below_given(self) -> list[Path]:
        return [] if self._given is None else list(_files(self._given))


def _fits(trace: Trace, clues: Clues) -> bool:
    return clues.capacity_mbps is None or trace.carries(clues.capacity_mbps, clues.duration_s)


def _unfit(trace: Trace, clues: Clues) -> str:
    return f"{_short_name(trace.file)} has {trace.rate_mbps:.3g} Mbit/s, the logged link {clues.capacity_mbps:g}"


def _likely(traces: list[Trace], name: str, clues: Clues) -> list[Trace]:
    """Return the traces that carry the fastest run, share the most folders with the name, and have the named rate."""
    if len(traces) > 1 and clues.fastest_mbps is not None:
        fastest = clues.fastest_mbps
        traces = [
            trace for trace in traces if fastest <= rates(trace.times_ms, clues.duration_s)[1] * (1 + MARGIN)
        ] or traces
    if len(traces) > 1:
        common = [_common(trace.file, name) for trace in traces]
        traces = [trace for trace, parts in zip(traces, common, strict=True) if parts == max(common)]
    if len(traces) > 1 and (match := NAMED_RATE.match(PurePosixPath(name).name)):
        rate = float(match[1])
        traces = [trace for trace in traces if abs(trace.rate_mbps - rate) <= MARGIN * rate] or traces
    return traces


def _common(file: Path, name: str) -> int:
    """Return the number of equal parts at the end of two names."""
    pairs = zip(reversed(file.parts), reversed(PurePosixPath(name).parts), strict=False)
    return next((number for number, (part, other) in enumerate(pairs) if part != other), len(PurePosixPath(name).parts))


def _ancestors(place: Path, source: Path) -> Iterator[Path]:
    """Yield the directory of a set and its parents, up to the source."""
    for directory in (place, *place.parents):
        if directory == source or source in directory.parents:
            yield directory


def _files(top: Path) -> Iterator[Path]:
    """Yield the files below a directory, in the order of their names."""
    count = 0
    for place, inside, names in os.walk(top):
        inside[:] = sorted(name for name in inside if name != ".git")
        for name in sorted(names):
            count += 1
            if count > _MOST_FILES:
                return
            yield Path(place, name)
        if len(Path(place).relative_to(top).parts) == _MOST_LEVELS:
            inside.clear()


def _size_of_trace(file: Path) -> int:
    """Return the size of a regular file that begins with lines of digits; 0 of any other file."""
    try:
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
            return 0
        with file.open("rb") as stream:
            return about.st_size if _SNIFFED.fullmatch(stream.read(_SNIFFED_BYTES)) else 0
    except OSError:
        return 0


def _read(file: Path) -> Trace | str:
    """Return a trace, or a one-line reason why the file is not a trace."""
    try:
        about = file.lstat()
    except OSError as error:
        return f"{_short_name(file)}: {error.strerror or error}"
    if not stat.S_ISREG(about.st_mode):
        return f"{_short_name(file)}: not a regular file"
    if about.st_size > _MOST_BYTES:
        return (
            f"{_short_name(file)}: {about.st_size >> 20} MiB: allowed for a trace are at most {_MOST_BYTES >> 20} MiB"
        )
    try:
        element = _element(file)
        times = np.asarray(with_times(element)["times_ms"], dtype=np.int64)
    except UserError as error:
        return f"{_short_name(file)}: no trace: {str(error).rsplit(f'{file.name}', 1)[-1].lstrip(': ')}"
    return Trace(file, element, times)


def _element(file: Path) -> Element:
    return trace_element(TomlTable({"kind": "trace", "mode": "mahimahi", "file": str(file.absolute())}, ""))


def _short_name(file: Path) -> str:
    """Return the end of a file's name for messages."""
    return shortened("/".join(file.parts[-2:]))
