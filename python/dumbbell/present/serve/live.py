"""Results in progress: the number of runs, and the live values of current runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.results.live_runs import LivePlace, LiveResults
from dumbbell.results.sql.index_file import index_state

if TYPE_CHECKING:
    from pathlib import Path

    from dumbbell.present.serve.runs_table import Place
    from dumbbell.results.files import Stamp
    from dumbbell.results.live_runs import LiveRun

_SHOWN_S, _BUSY_S, _IDLE_S = 0.15, 0.25, 2.0
"""Seconds between two looks: while runs show live values, while results are written, and otherwise."""


class ResultsWatch:
    """Watch over results directories that reports changes since the last look; `folder` has runs without results."""

    def __init__(self, places: Sequence[Place], folder: Path | None = None) -> None:
        self.running = False
        self._places = [(place, LiveResults(place.results)) for place in places]
        self._folder = None if folder is None else LivePlace(Entry.of(folder))
        self._states = self._state()
        self._last_content: dict[str, object] = {}
        self._stamps: dict[str, Stamp] | None = None

    @property
    def pause_s(self) -> float:
        """Time until the next look, s."""
        if self._stamps or self._folder is not None:
            return _SHOWN_S
        return _BUSY_S if self.running else _IDLE_S

    def _state(self) -> list[object]:
        return [index_state(place.results.directory) for place, _ in self._places]

    def look(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the events `progress` and `live`."""
        writing = [place.results.is_written for place, _ in self._places]
        self.running = any(writing) or self._folder is not None
        labels, live_runs = self._running(writing)
        state = self._state()
        is_changed, self._states = state != self._states, state
        counts = [results.made_and_failed() for _, results in self._places]
        content: dict[str, object] = {
            "running": self.running,
            "changed": is_changed,
            "done": sum(done_count for done_count, _ in counts),
            "failed": sum(failed_count for _, failed_count in counts),
            "total": sum(results.total for _, results in self._places),
            "now": labels,
        }
        if content != self._last_content or is_changed:
            self._last_content = {**content, "changed": False}
            yield "progress", content
        yield from self._live(live_runs)

    def _running(self, writing: Sequence[bool]) -> tuple[list[str], list[tuple[str, LiveRun]]]:
        """Return the labels of current runs in directories that are being written, and live runs with their places."""
        labels, live_runs = [], []
        for (place, results), is_written in zip(self._places, writing, strict=True):
            if is_written:
                of_place, runs = results.look()
                labels += of_place
                live_runs += [(place.identity, run) for run in runs]
        if self._folder is not None:
            live_runs += [("", run) for run in self._folder.look()[1]]
        return labels, live_runs

    def _live(self, live_runs: Sequence[tuple[str, LiveRun]]) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield an event if a run shows new values or is over: `keys` are all runs, `runs` the changed ones."""
        stamps = {f"{place}/{run.key}": run.stamp for place, run in live_runs}
        if stamps != self._stamps:
            before, self._stamps = self._stamps or {}, stamps
            changed_runs = [
                _table(*entry) for entry in live_runs if before.get(f"{entry[0]}/{entry[1].key}") != entry[1].stamp
            ]
            yield "live", {"keys": list(stamps), "runs": changed_runs}


def _table(place: str, run: LiveRun) -> dict[str, object]:
    """Return a run as it appears in events."""
    results_run = run.run
    identity = None if results_run is None else f"{place}/{results_run.path}/{results_run.scheme}/{results_run.run}"
    return {"key": f"{place}/{run.key}", "id": identity, "label": run.label, **run.content}
