"""Tests of following the logs of runs: new lines are forwarded during a run, the rest at its end."""

import logging
from pathlib import Path

import pytest

from dumbbell.base import logs
from dumbbell.execution.following import LOOK_S, Following
from dumbbell.execution.worker import Task
from support.clock import ManualClock

LINE = "12:03:04.123 info  execution.worker: line {}\n"


@pytest.fixture(autouse=True)
def _wanted_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = logs.Levels(((logs.PACKAGE, logging.INFO),))
    monkeypatch.setattr("dumbbell.execution.following.levels", lambda: levels)


@pytest.fixture
def forwarded_lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of lines that became log records."""
    lines: list[str] = []
    monkeypatch.setattr("dumbbell.execution.following.ForeignLog.take", lambda _, line: lines.append(line))
    return lines


def task(folder: Path) -> Task:
    return Task(
        number=0,
        label="reno on small, run 1",
        executor=None,  # type: ignore[arg-type]  # nobody executes it
        identity={},
        specification={},
        outside=(),
        out=folder,
        temporary=folder / "0",
        final=folder / "final",
    )


def test_whole_lines_of_a_log_are_said_at_the_next_look(
    tmp_path: Path, clock: ManualClock, forwarded_lines: list[str]
) -> None:
    following = Following(clock)
    follower = following.begin(task(tmp_path))
    with follower.log.open("w") as log:
        log.write(LINE.format(1) + LINE.format(2) + "12:03:05.000 info  half")
        log.flush()
        clock.until_waiting()
        assert forwarded_lines == []
        clock.turn(LOOK_S)
        clock.until_waiting()
        assert forwarded_lines == [LINE.format(1).rstrip(), LINE.format(2).rstrip()]
        log.write(" of a line")
    clock.turn(LOOK_S)
    clock.until_waiting()
    assert len(forwarded_lines) == 2
    following.end(0)
    assert forwarded_lines[2:] == ["12:03:05.000 info  half of a line"]
    following.close()


def test_who_is_no_longer_followed_is_not_looked_at(
    tmp_path: Path, clock: ManualClock, forwarded_lines: list[str]
) -> None:
    following = Following(clock)
    follower = following.begin(task(tmp_path))
    clock.until_waiting()
    following.close()
    follower.log.write_text(LINE.format(1))
    clock.turn(100 * LOOK_S)
    assert forwarded_lines == []
