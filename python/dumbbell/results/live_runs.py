"""Runs while they go on: how many are made, which are worked on, and what those with real packets show of themselves.

A run with real packets keeps a small file beside its unfinished directory, which the core writes anew five times a
second (`crates/datapath/src/live.rs`) and removes in the end. Results may be anybody's: what is in such a file is
bounded, and of the shape that it is written with, or it is not there.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.json_types import typed
from dumbbell.base.live_file import SUFFIX
from dumbbell.results.directory import open_results
from dumbbell.results.files import Stamp, stamp
from dumbbell.results.kept_experiment import KEPT
from dumbbell.results.sql.index_file import index_state, made_and_failed
from dumbbell.contract.live import RunShown
    from dumbbell.experiment import Run
    from dumbbell.results.directory import ResultsDirectory

_MOST_BYTES = 512 * 1024
_MOST_ENTRIES, _MOST_RUNS = 4096, 64
"""Of a folder, entries that are looked at, and runs that are shown."""
_MOST_FLOWS, _MOST_LINKS, _MOST_STATES, _MOST_LETTERS = 256, 64, 64, 100
_MOST_IN_LINE = 2048
_NUMBERED = re.compile(r"([0-9]{1,9})(\.log|\.live\.json)")


@dataclass(frozen=True)
class LiveRun:
    """What a run shows."""

    key: str
    """Tells it from others that go on in the same place."""
    label: str
    run: Run | None
    """None where the experiment has no such run."""
    content: RunShown
    stamp: Stamp
    """Another one whenever the content is."""


class LivePlace:
    """A folder in which runs go on, and what was read there."""

    def __init__(self, folder: Entry) -> None:
        self.folder = folder
        self._read: dict[str, tuple[Stamp, RunShown | None]] = {}
        self._labels: dict[str, str] = {}

    def look(self, runs: dict[str, Run] | None = None) -> tuple[list[str], list[LiveRun]]:
        """Return the labels of the runs that go on, and what they show. `runs` are those of the experiment by label."""
        known = runs or {}
        found: dict[str, set[str]] = {}
        for name in self.folder.names(_MOST_ENTRIES):
            if numbered := _NUMBERED.fullmatch(name):
                found.setdefault(numbered[1], set()).add(numbered[2])
        keys = sorted(found, key=int)[:_MOST_RUNS]
        self._read = {key: self._read[key] for key in keys if key in self._read}
        self._labels = {key: self._labels[key] for key in keys if key in self._labels}
        shown = []
        for key in keys:
            if SUFFIX in found[key] and (content := self._content(key)) is not None:
                label = self._label(key)
                shown.append(LiveRun(key, label, known.get(label), content, self._read[key][0]))
        labels = [self._label(key) for key in keys if ".log" in found[key]]
        return [label for label in labels if label], shown

    def _content(self, key: str) -> RunShown | None:
        """Return what a run shows; None where that is nothing that a run shows."""
        file = self.folder / f"{key}{SUFFIX}"
        now, kept = stamp(file), self._read.get(key)
        if now is None:  # it is over
            return None
        if kept is None or kept[0] != now:
            try:
                self._read[key] = now, _parsed(_beginning(file, _MOST_BYTES + 1))
            except (OSError, UserError):
                return None
        return self._read[key][1]

    def _label(self, key: str) -> str:
        """Return what the run is called, by the first line of its log: `TIME dumbbell VERSION: LABEL`."""
        if key not in self._labels:
            line = b""
            with suppress(OSError, UserError):
                line = _beginning(self.folder / f"{key}.log", _MOST_IN_LINE)
            first, end, _ = line.decode(errors="replace").partition("\n")
            if not end:
                return ""
            self._labels[key] = printable(first.partition(": ")[2])[:500]
        return self._labels[key]


class LiveResults:
    """A results directory while somebody writes it."""

    def __init__(self, results: ResultsDirectory) -> None:
        self.results = results
        self._place = LivePlace(results.unfinished)
        self._counted: tuple[object, tuple[int, int]] = (None, (0, 0))
        self._file = results.root / KEPT
        self._written = stamp(self._file)

    @cached_property
    def _runs(self) -> dict[str, Run]:
        return {run.label: run for run in self.results.planned()}

    @property
    def total(self) -> int:
        """How many runs the experiment has; they become more where runs are added until means are known."""
        if (written := stamp(self._file)) != self._written:
            self._written = written
            with suppress(UserError, OSError):
                self.results = open_results(self.results.directory)
                del self._runs
        return len(self._runs)

    def made_and_failed(self) -> tuple[int, int]:
        """Return how many runs were made, and how many of them cannot be used; by the index, if there is one."""
        state = index_state(self.results.directory)
        if state != self._counted[0]:
            self._counted = state, made_and_failed(self.results)
        return self._counted[1]

    def look(self) -> tuple[list[str], list[LiveRun]]:
        """Return the labels of the runs that go on, and what those with real packets show."""
        return self._place.look(self._runs)


def _beginning(file: Entry, most_bytes: int) -> bytes:
    """Return the first bytes of a regular file.

    Raises:
        OSError, UserError: it is something else, or cannot be read.
    """
    with file.open_regular() as stream:
        return stream.read(most_bytes)


def _parsed(text: bytes) -> RunShown | None:
    """Return the content of a file that shows a run; None if no run writes such."""
    if len(text) > _MOST_BYTES:
        return None
    try:
        content = typed(parse_json(text.decode()), RunShown)
    except (BadJson, UserError, UnicodeDecodeError):
        return None
    if len(content["flows"]) > _MOST_FLOWS or len(content["links"]) > _MOST_LINKS:
        return None
    texts = [link["name"] for link in content["links"]]
    for flow in content["flows"]:
        if len(flow["state"]) > _MOST_STATES:
            return None
        texts += [flow["scheme"], *(text for value in flow["state"] for text in (value["name"], value["unit"]))]
    return content if all(len(text) <= _MOST_LETTERS for text in texts) else None
