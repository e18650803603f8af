"""Waits and budgets of studies, by a clock that the test turns."""

import os
import threading
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dumbbell_calibrate.search import Effort, minimise
from dumbbell_remote.pathfinding.probing import WAYS, probe, questions
from dumbbell_remote.remote_run import MARGIN_S
from dumbbell_webrtc.call import CONNECT_WITHIN_S, CallEnd
from dumbbell_webrtc.errors import CallError
from dumbbell_webrtc.pipe import DevTools
from dumbbell_webrtc.rendezvous import join
from dumbbell_webrtc.validity import Conduct
from support.clock import ManualClock


def test_a_search_ends_when_its_time_is_over(clock: ManualClock) -> None:
    began_s, tried_places = clock.monotonic(), []

    def evaluate(places: Any) -> list[float]:  # noqa: ANN401 (vectors)
        clock.turn(7.0)  # a generation takes so long
        tried_places.extend(places)
        return [sum((coordinate - 0.7) ** 2 for coordinate in place) for place in places]

    minimise(evaluate, [0.2, 0.3], [0.2, 0.2], Effort(100_000, clock.monotonic() + 60.0, clock), 1)
    assert 60.0 <= clock.monotonic() - began_s < 75.0
    assert len(tried_places) > 8 * 7
    assert not Effort(1, None, clock).over


@pytest.fixture(name="browser")
def _browser(clock: ManualClock) -> Any:  # noqa: ANN401 (the client, and the pipe that the browser writes to)
    commands, events = os.pipe(), os.pipe()
    tools = DevTools(events[0], commands[1], clock)
    yield tools, events[1]
    os.close(events[1])
    tools.close()
    os.close(commands[0])


def test_a_browser_that_does_not_answer_is_told_when_its_time_is_over(
    browser: tuple[DevTools, int], clock: ManualClock
) -> None:
    tools, _ = browser
    failures: list[str] = []

    def call() -> None:
        with pytest.raises(CallError) as error:
            tools.call("Page.enable", timeout_s=10.0)
        failures.append(str(error.value))

    calling = threading.Thread(target=call)
    calling.start()
    clock.until_waiting()
    clock.turn(9.5)
    clock.until_waiting()
    assert failures == []
    clock.turn(0.5)
    calling.join()
    assert failures == ["the browser does not answer Page.enable within 10 s"]


def test_a_browser_may_take_its_time_as_long_as_it_has_some(browser: tuple[DevTools, int], clock: ManualClock) -> None:
    tools, events = browser
    answers: list[object] = []
    calling = threading.Thread(target=lambda: answers.append(tools.call("Page.enable", timeout_s=10.0)))
    calling.start()
    clock.until_waiting()
    clock.turn(9.5)
    os.write(events, b'{"id": 1, "result": {"n": 5}}\0')
    calling.join()
    assert answers == [{"n": 5}]


def test_the_side_that_comes_second_waits_for_the_first(tmp_path: Path, clock: ManualClock) -> None:
    began_s = clock.monotonic()
    with pytest.raises(CallError, match="the other side is not there: No such file"):
        join(tmp_path / "meet", 30.0, clock)
    assert clock.monotonic() - began_s == pytest.approx(30.0, abs=0.1)
    assert set(clock.slept_s) == {0.02}


def call_end(clock: ManualClock, folder: Path, **state: object) -> CallEnd:
    """Return an end of a call whose page is silent."""
    page = SimpleNamespace(clock_offset_ms=lambda: 0.0, run=lambda *_, **__: {"records": [], "states": []})
    place = SimpleNamespace(samples=None, setup=lambda: SimpleNamespace(log=folder / "log"))
    conduct = Conduct()
    for name, value in state.items():
        setattr(conduct, name, value)
    return CallEnd(None, page, place, SimpleNamespace(), conduct, clock)  # type: ignore[arg-type]  # what is used


def test_a_call_that_is_not_connected_in_time_fails(tmp_path: Path, clock: ManualClock) -> None:
    meeting, began_s = SimpleNamespace(is_over=lambda: False), clock.monotonic()
    with pytest.raises(CallError, match="the call is not connected after 10 s"):
        call_end(clock, tmp_path).attend(meeting)  # type: ignore[arg-type]
    assert CONNECT_WITHIN_S < clock.monotonic() - began_s <= CONNECT_WITHIN_S + 0.5


def test_a_call_whose_other_side_has_been_gone_for_a_while_fails(tmp_path: Path, clock: ManualClock) -> None:
    meeting, began_s = SimpleNamespace(is_over=lambda: clock.monotonic() - began_s > 4.0), clock.monotonic()
    with pytest.raises(CallError, match="the other side has ended"):
        call_end(clock, tmp_path).attend(meeting)  # type: ignore[arg-type]
    assert 6.0 < clock.monotonic() - began_s < 8.0


class ProbedPeer:
    """Notes the time limit of each command, and answers it."""

    name = "far"

    def __init__(self) -> None:
        self.given: list[tuple[str, float, float]] = []

    def begin(self, do: str, *, within_s: float, request: dict[str, Any]) -> "Future[Any]":
        self.given.append((do, within_s, request["seconds"]))
        future: Future[Any] = Future()
        sent_packets = [[number, 0, 1000] for number, _ in enumerate(request["bursts"])]
        future.set_result(({"sent": sent_packets, "arrived": [], "duplicates": 0}, b""))
        return future

    def ask(self, do: str, *, within_s: float, seconds: float, per_s: float) -> tuple[dict[str, Any], bytes]:
        self.given.append((do, within_s, seconds))
        return {"exchanges": []}, b""


def test_probes_may_take_as_long_as_they_last_and_a_margin() -> None:
    pair: Any = SimpleNamespace(local=SimpleNamespace(peer=ProbedPeer()), remote=SimpleNamespace(peer=ProbedPeer()))
    gap_s, count = 0.5, 20
    probe(pair, dict.fromkeys(WAYS, (10, 1200, gap_s)), count, rtt_s=0.3, ecn=False)
    for side in (pair.local, pair.remote):
        ((do, within_s, seconds),) = side.peer.given
        assert do == "probe"
        assert (count - 1) * gap_s + 0.3 < seconds < count * gap_s + 3.0
        assert within_s == seconds + MARGIN_S
    questions(pair, 2.0, 20.0)
    assert pair.local.peer.given[1:] == [("ask", 2.0 + MARGIN_S, 2.0)]
