"""Trace files of mahimahi beside measured runs: found by the name in the metadata or logs, else by their content."""

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
from dumbbell.catalog.trace_files import found as trace_element, with_times
from dumbbell.formats.pantheon_metadata import shortened
from dumbbell.results.files import write_atomically

Numbers = NDArray[Any]

NAMED_RATE = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)mbps(?:[._-]trace)?", re.IGNORECASE)
"""Name of a trace that states its rate."""
MARGIN = 0.05
"""Part by which a rate may differ from the capacity of a trace: both are means over other times."""
_MOST_BYTES = 64 << 20
"""Largest trace: one of 1 Gbit/s and 60 s has 30 MB."""
_MOST_FILES = 200_000
_MOST_LEVELS = 8
_SNIFFED = re.compile(rb"\d{1,12}\r?\n[\d\r\n]*")
_SNIFFED_BYTES = 64
_BITS = 12_000.0
"""Bits that an opportunity carries: a packet of 1500 bytes."""


@dataclass(frozen=True)
class Trace:
    """A trace file: its element of a path, and its opportunities."""

    file: Path
    element: Element
    times_ms: Numbers

    @property
    def rate_mbps(self) -> float:
        """Mean rate over one period."""
        return float(len(self.times_ms) * _BITS / self.times_ms[-1] / 1e3)

    def carries(self, capacity_mbps: float, duration_s: float) -> bool:
        """Return whether the trace may have this mean capacity in a run."""
        least, most = rates(self.times_ms, duration_s)
        return least * (1.0 - MARGIN) <= capacity_mbps <= most * (1.0 + MARGIN)


def rates(times_ms: Numbers, duration_s: float) -> tuple[float, float]:
    """Return the lowest and the highest mean rate of a repeated trace over a time like `duration_s`, Mbit/s.

    The highest one counts from a delivery to a delivery, as Pantheon's throughput does: the longest gap between
    opportunities may lie outside of the counted time.
    """
    times = np.asarray(times_ms, dtype=np.float64)
    period, length = float(times[-1]), duration_s * 1e3
    if not period or not length:
        return 0.0, float("inf")
    whole, rest = divmod(length, period)
    twice = np.concatenate([times, times + period])
    index = np.arange(len(times))
    after = twice[: len(times)] + rest
    most = whole * len(times) + int((np.searchsorted(twice, after, "right") - index).max())
    # an interval that begins just behind an opportunity
    last = np.searchsorted(times, times, "right")
    least = whole * len(times) + max(int((np.searchsorted(twice, after, "left") - last).min()), 0)
    gap = float(np.diff(twice).max()) if len(twice) > 1 else period
    counted = max(length - gap, length / 2.0)
    return least * _BITS / length / 1e3, most * _BITS / counted / 1e3


@dataclass(frozen=True)
class Clues:
    """What is known of the trace of a link besides its name."""

    duration_s: float
    capacity_mbps: float | None = None
    """Mean capacity in the run, which Pantheon's analysis took from the log."""
    fastest_mbps: float | None = None
    """Throughput of the fastest run over the link."""


@dataclass(frozen=True)
class Sought:
    """The trace that was found and how, or why none was found, in words."""

    trace: Trace | None
    how: str


class TraceFiles:
    """Files that may be traces: below the source of the measured sets, and below a directory of `--traces`.

    They are untrusted: links are not followed, and neither large files nor endless trees are read.
    """

    def __init__(self, source: Path, sets: Iterable[Path], given: Path | None, kept: Path) -> None:
        if given is not None and not given.is_dir():
            raise UserError("no such directory", argument="traces", value=given)
        self._source, self._sets, self._given, self._kept = source, tuple(sets), given, kept
        self._known: dict[Path, Trace | str] = {}

    def keep(self, name: str, times_ms: Numbers) -> Element:
        """Write opportunities, in whole ms, into a trace file and return its element of a path.

        An experiment file has no room for the opportunities of fast links: those of 1 Gbit/s are 5 million a minute.

        Raises:
            UserError: it cannot be written.
        """
        file = self._kept / f"{fitted(name, 'link')}.trace"
        try:
            self._kept.mkdir(parents=True, exist_ok=True)
            write_atomically(file, "\n".join(map(str, times_ms.tolist())) + "\n")
        except OSError as error:
            raise UserError(f"{file}: {error.strerror or error}") from None
        return _element(file)

    def find(self, name: str, place: Path, clues: Clues) -> Sought:
        """Return the trace of this name for the set in `place`.

        Files of `--traces` win, then those nearest to the set. One whose capacity is not that of the log is none.
        """
        reasons = [] if name else ["the metadata name no trace"]
        base = PurePosixPath(name).name
        for files, is_near in self._of_name(base, place):
            traces, bad = self._read(files)
            fitting = [each for each in traces if _fits(each, clues)]
            reasons += bad + [_unfit(each, clues) for each in traces if each not in fitting]
            if not is_near and clues.capacity_mbps is None:
                reasons += [f"{_shown(each.file)} lies beside another set" for each in fitting[:1]]
                continue
            likely = _likely(fitting, name, clues)
            if len(likely) == 1:
                return Sought(likely[0], f"the trace file {_shown(likely[0].file)}")
            if likely:
                reasons.append(f"{len(likely)} files with different content are called `{shortened(base)}`")
        if clues.capacity_mbps is not None and (trace := self._by_capacity(clues)) is not None:
            rate = f"{clues.capacity_mbps:g} Mbit/s"
            return Sought(trace, f"the trace file {_shown(trace.file)}, by the {rate} of the logged link")
        return Sought(None, "; ".join(dict.fromkeys(reasons)) or f"no file is called `{shortened(base)}`")

    def _of_name(self, name: str, place: Path) -> Iterator[tuple[list[Path], bool]]:
        """Files of a name in groups, the best one first, and whether nothing but the name ties them to the set."""
        if not name:
            return
        yield [each for each in self._below_given if each.name == name], True
        below = [each for each in self._below_source if each.name == name]
        for above in _ancestors(place, self._source):
            inside = [each for each in below if above in each.parents]
            near = [each for each in inside if above == place or not self._is_of_others(each, above, place)]
            if near or inside:
                yield (near, True) if near else (inside, False)
                return

    def _is_of_others(self, file: Path, above: Path, place: Path) -> bool:
        """Return whether a file is in a directory with sets of its own, in which `place` is not."""
        child = above / file.relative_to(above).parts[0]
        return place != child and child not in place.parents and any(child in each.parents for each in self._sets)

    def _by_capacity(self, clues: Clues) -> Trace | None:
        """The only trace of the logged capacity."""
        capacity = clues.capacity_mbps or 0.0
        traces = self._read(self._small)[0]
        fitting = [each for each in traces if abs(each.rate_mbps - capacity) <= MARGIN * capacity]
        return fitting[0] if len(fitting) == 1 else None

    def _read(self, files: Sequence[Path]) -> tuple[list[Trace], list[str]]:
        """The traces among files, one of each content; and why others are none."""
        traces: dict[str, Trace] = {}
        bad = []
        for file in files:
            if file not in self._known:
                self._known[file] = _read(file)
            known = self._known[file]
            if isinstance(known, str):
                bad.append(known)
            else:
                traces.setdefault(known.element["sha256"], known)
        return list(traces.values()), bad

    @cached_property
    def _small(self) -> list[Path]:
        """Files that look like traces, as many as are read without a name that asks for them."""
        found, left = [], _MOST_BYTES
        for file in (*self._below_given, *self._below_source):
            if (size := _size_of_trace(file)) and size <= left:
                found.append(file)
                left -= size
        return found

    @cached_property
    def _below_source(self) -> list[Path]:
        return list(_files(self._source))

    @cached_property
    def _below_given(self) -> list[Path]:
        return [] if self._given is None else list(_files(self._given))


def _fits(trace: Trace, clues: Clues) -> bool:
    return clues.capacity_mbps is None or trace.carries(clues.capacity_mbps, clues.duration_s)


def _unfit(trace: Trace, clues: Clues) -> str:
    return f"{_shown(trace.file)} has {trace.rate_mbps:.3g} Mbit/s, the logged link {clues.capacity_mbps:g}"


def _likely(traces: list[Trace], name: str, clues: Clues) -> list[Trace]:
    """Those of several traces that can carry the fastest run, are in the named directory, and have the named rate."""
    if len(traces) > 1 and clues.fastest_mbps is not None:
        most = clues.fastest_mbps
        traces = [each for each in traces if most <= rates(each.times_ms, clues.duration_s)[1] * (1 + MARGIN)] or traces
    if len(traces) > 1:
        common = [_common(each.file, name) for each in traces]
        traces = [each for each, parts in zip(traces, common, strict=True) if parts == max(common)]
    if len(traces) > 1 and (match := NAMED_RATE.match(PurePosixPath(name).name)):
        rate = float(match[1])
        traces = [each for each in traces if abs(each.rate_mbps - rate) <= MARGIN * rate] or traces
    return traces


def _common(file: Path, name: str) -> int:
    """How many parts of two names are the same, from the end on."""
    pairs = zip(reversed(file.parts), reversed(PurePosixPath(name).parts), strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), len(PurePosixPath(name).parts))


def _ancestors(place: Path, source: Path) -> Iterator[Path]:
    """The directory of a set and those above it, up to the source."""
    for each in (place, *place.parents):
        if each == source or source in each.parents:
            yield each


def _files(top: Path) -> Iterator[Path]:
    """Regular files below a directory, by name."""
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
    """Return a trace, or in one line why a file is none."""
    try:
        about = file.lstat()
    except OSError as error:
        return f"{_shown(file)}: {error.strerror or error}"
    if not stat.S_ISREG(about.st_mode):
        return f"{_shown(file)}: not a regular file"
    if about.st_size > _MOST_BYTES:
        return f"{_shown(file)}: {about.st_size >> 20} MiB: allowed for a trace are at most {_MOST_BYTES >> 20} MiB"
    try:
        element = _element(file)
        times = np.asarray(with_times(element)["times_ms"], dtype=np.int64)
    except UserError as error:
        return f"{_shown(file)}: no trace: {str(error).rsplit(f'{file.name}', 1)[-1].lstrip(': ')}"
    return Trace(file, element, times)


def _element(file: Path) -> Element:
    return trace_element(TomlTable({"kind": "trace", "mode": "mahimahi", "file": str(file.absolute())}, ""))


def _shown(file: Path) -> str:
    """The end of a file's name as messages show it."""
    return shortened("/".join(file.parts[-2:]))
