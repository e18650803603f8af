"""Tests of the live view: it reads results at the pace of its clock, and drops listeners that are gone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dumbbell.present.serve import application
from dumbbell.present.serve.application import Explorer
from support.clock import ManualClock


class Listener:
    """A request of a page that listens until `listens_s` are over."""

    def __init__(self, clock: ManualClock, listens_s: float) -> None:
        self._clock, self._until_s = clock, clock.monotonic() + listens_s
        self.asked_s: list[float] = []

    async def is_disconnected(self) -> bool:
        self.asked_s.append(self._clock.monotonic())
        return self._clock.monotonic() >= self._until_s


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> list[float]:
    """Return the list of times at which the results are read."""
    look_times: list[float] = []

    class FakeWatch:
        pause_s = 2.0

        def __init__(self, *_: object) -> None:
            pass

        def look(self) -> list[tuple[str, dict[str, object]]]:
            look_times.append(clock.monotonic())
            return [("progress", {"done": len(look_times)})]

    monkeypatch.setattr(application, "ResultsWatch", FakeWatch)
    return look_times


async def listen(listener: Any, explorer: Explorer, limit: int = 10**6) -> list[str]:  # noqa: ANN401 (a request)
    events = []
    async for event in application._events(listener, explorer):
        events.append(event.partition("\n")[0])
        if len(events) == limit:
            explorer.ending.set()
    return events


def test_results_are_looked_at_after_each_pause(clock: ManualClock, looks: list[float]) -> None:
    listener, began_s = Listener(clock, 10.5), clock.monotonic()
    events = asyncio.run(listen(listener, Explorer([], clock=clock)))
    assert events == ["event: progress"] * 6
    assert [at_s - began_s for at_s in looks] == pytest.approx([0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    assert [at_s - began_s for at_s in listener.asked_s] == pytest.approx([float(index) for index in range(12)])


def test_who_listens_is_told_the_last_and_let_go_when_the_server_ends(
    clock: ManualClock, looks: list[float], tmp_path: Path
) -> None:
    listener, began_s = Listener(clock, 3600.0), clock.monotonic()
    events = asyncio.run(listen(listener, Explorer([], tmp_path, clock), limit=3))
    assert events == ["event: progress"] * 4 + ["event: ended"]
    assert looks[-1] - began_s == pytest.approx(4.0 + application._LOOK_EVERY_S), "not after a whole pause"
