"""Results while they are made: how many runs there are, and what the runs that go on say of themselves."""

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
"""Between two looks: while runs show themselves, while results are written, and else."""


class Watched:
    """Looks at results directories, and says what is new since the last time. `folder` has runs without results."""

    def __init__(self, places: Sequence[Place], folder: Path | None = None) -> None:
        self.running = False
        self._places = [(place, LiveResults(place.results)) for place in places]
        self._folder = None if folder is None else LivePlace(Entry.of(folder))
        self._states = self._state()
        self._said: dict[str, object] = {}
        self._stamps: dict[str, Stamp] | None = None

    @property
    def pause_s(self) -> float:
        """The time until the next look, s."""
        if self._stamps or self._folder is not None:
            return _SHOWN_S
        return _BUSY_S if self.running else _IDLE_S

    def _state(self) -> list[object]:
        return [index_state(place.results.directory) for place, _ in self._places]

    def look(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield events: `progress`, `live`."""
        written = [place.results.is_written for place, _ in self._places]
        self.running = any(written) or self._folder is not None
        labels, shown = self._running(written)
        state = self._state()
        changed, self._states = state != self._states, state
        counted = [results.made_and_failed() for _, results in self._places]
        content: dict[str, object] = {
            "running": self.running,
            "changed": changed,
            "done": sum(made for made, _ in counted),
            "failed": sum(failed for _, failed in counted),
            "total": sum(results.total for _, results in self._places),
            "now": labels,
        }
        if content != self._said or changed:
            self._said = {**content, "changed": False}
            yield "progress", content
        yield from self._live(shown)

    def _running(self, written: Sequence[bool]) -> tuple[list[str], list[tuple[str, LiveRun]]]:
        """Return the labels of the runs that go on where somebody writes, and what they show, each with its place."""
        labels, shown = [], []
        for (place, results), is_written in zip(self._places, written, strict=True):
            if is_written:
                of_place, runs = results.look()
                labels += of_place
                shown += [(place.identity, run) for run in runs]
        if self._folder is not None:
            shown += [("", run) for run in self._folder.look()[1]]
        return labels, shown

    def _live(self, shown: Sequence[tuple[str, LiveRun]]) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield an event if a run shows something else than before, or is over: `keys` are all, `runs` what changed."""
        stamps = {f"{place}/{run.key}": run.stamp for place, run in shown}
        if stamps != self._stamps:
            before, self._stamps = self._stamps or {}, stamps
            changed = [_table(*each) for each in shown if before.get(f"{each[0]}/{each[1].key}") != each[1].stamp]
            yield "live", {"keys": list(stamps), "runs": changed}


def _table(place: str, run: LiveRun) -> dict[str, object]:
    """Return a run as events have it."""
    found = run.run
    identity = None if found is None else f"{place}/{found.path}/{found.scheme}/{found.run}"
    return {"key": f"{place}/{run.key}", "id": identity, "label": run.label, **run.content}
