"""Results while they are made: how many runs there are, and what the runs that go on say of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dumbbell.results.sql.index import index_state

if TYPE_CHECKING:
    from dumbbell.present.serve.runs_table import Place

_BUSY_S, _IDLE_S = 0.25, 2.0


class Watched:
    """Looks at results directories, and says what is new since the last time."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self.running = False
        self._states = self._state()
        self._said: dict[str, object] = {}

    @property
    def pause_s(self) -> float:
        """How long nothing needs to be looked at."""
        return _BUSY_S if self.running else _IDLE_S

    def _state(self) -> list[object]:
        return [index_state(place.results.directory) for place in self.places]

    def look(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield events: `progress`."""
        self.running = any(place.results.is_written for place in self.places)
        state = self._state()
        changed, self._states = state != self._states, state
        content: dict[str, object] = {"running": self.running, "changed": changed}
        if content != self._said or changed:
            self._said = {**content, "changed": False}
            yield "progress", content
