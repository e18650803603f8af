"""Runs in progress: the number of completed runs, the current ones, and live values of runs with real packets.

A run with real packets keeps a small file beside its unfinished directory. The core rewrites it five times a second
(`crates/datapath/src/live.rs`) and removes it in the end. Results may be anybody's: a file that is too large or
malformed counts as absent.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.json_types import typed
from dumbbell.base.live_file import SUFFIX
from dumbbell.contract.live import RunShown
from dumbbell.results.directory import open_results
from dumbbell.results.files import Stamp, stamp
from dumbbell.results.kept_experiment import KEPT
from dumbbell.results.sql.index_file import index_state, made_and_failed

if TYPE_CHECKING:
    from dumbbell.experiment import Run
    from dumbbell.results.directory import ResultsDirectory

_MOST_BYTES = 512 * 1024
_MOST_ENTRIES, _MOST_RUNS = 4096, 64
"""Maximum entries of a directory that are read, and runs that are shown."""
_MOST_FLOWS, _MOST_LINKS, _MOST_STATES, _MOST_LETTERS = 256, 64, 64, 100
_MOST_IN_LINE = 2048
_NUMBERED = re.compile(r"([0-9]{1,9})(\.log|\.live\.json)")


@dataclass(frozen=True)
class LiveRun:
    """A run in progress, with its live values."""

    key: str
    """Key of the run among those in one place."""
    label: str
    run: Run | None
    """None if the experiment has no such run."""
    content: RunShown
    stamp: Stamp
    """Stamp that changes whenever the content does."""


class LivePlace:
    """A directory with runs in progress, and the data read from it."""

    def __init__(self, folder: Entry) -> None:
        self.folder = folder
        self._read: dict[str, tuple[Stamp, RunShown | None]] = {}
        self._labels: dict[str, str] = {}

    def look(self, runs: dict[str, Run] | None = None) -> tuple[list[str], list[LiveRun]]:
        """Return the labels of runs in progress, and their live values; `runs` are those of the experiment by label."""
        runs_by_label = runs or {}
        endings_by_key: dict[str, set[str]] = {}
        for name in self.folder.names(_MOST_ENTRIES):
            if match := _NUMBERED.fullmatch(name):
                endings_by_key.setdefault(match[1], set()).add(match[2])
        keys = sorted(endings_by_key, key=int)[:_MOST_RUNS]
        self._read = {key: self._read[key] for key in keys if key in self._read}
        self._labels = {key: self._labels[key] for key in keys if key in self._labels}
        live_runs = []
        for key in keys:
            if SUFFIX in endings_by_key[key] and (content := self._content(key)) is not None:
                label = self._label(key)
                live_runs.append(LiveRun(key, label, runs_by_label.get(label), content, self._read[key][0]))
        labels = [self._label(key) for key in keys if ".log" in endings_by_key[key]]
        return [label for label in labels if label], live_runs

    def _content(self, key: str) -> RunShown | None:
        """Return the live values of a run, or None if its file is malformed."""
        file = self.folder / f"{key}{SUFFIX}"
        current, cache_entry = stamp(file), self._read.get(key)
        if current is None:  # the run is over
            return None
        if cache_entry is None or cache_entry[0] != current:
            try:
                self._read[key] = current, _parse(_beginning(file, _MOST_BYTES + 1))
            except (OSError, UserError):
                return None
        return self._read[key][1]

    def _label(self, key: str) -> str:
        """Return the label of the run from the first line of its log: `TIME dumbbell VERSION: LABEL`."""
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
    """A results directory that is being written."""

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
        """Number of runs of the experiment; it grows if runs are added until means are known."""
        if (file_stamp := stamp(self._file)) != self._written:
            self._written = file_stamp
            with suppress(UserError, OSError):
                self.results = open_results(self.results.directory)
                del self._runs
        return len(self._runs)

    def made_and_failed(self) -> tuple[int, int]:
        """Return the number of completed runs and the number of unusable runs, from the index if it exists."""
        state = index_state(self.results.directory)
        if state != self._counted[0]:
            self._counted = state, made_and_failed(self.results)
        return self._counted[1]

    def look(self) -> tuple[list[str], list[LiveRun]]:
        """Return the labels of runs in progress, and the live values of those with real packets."""
        return self._place.look(self._runs)


def _beginning(file: Entry, most_bytes: int) -> bytes:
    """Return the first bytes of a regular file.

    Raises:
        OSError, UserError: It is something else, or cannot be read.
    """
    with file.open_regular() as stream:
        return stream.read(most_bytes)


def _parse(text: bytes) -> RunShown | None:
    """Return the content of a file of live values; None if no run writes such."""
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
