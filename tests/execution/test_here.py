"""Tests of a single simulated run in the process of the command, whose state is restored afterwards."""

import logging
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

import dumbbell
from dumbbell.base import logs
from dumbbell.execution import here, worker


@pytest.fixture(autouse=True)
def default_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the loggers their default levels, whatever other tests in this process have set."""
    for name, _ in logs.levels().by_name:
        level = logging.WARNING if name == logs.PACKAGE else logging.NOTSET
        monkeypatch.setattr(logging.getLogger(name), "level", level)


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the process IDs of the makers of runs that this process has kept."""
    makers_kept: list[int] = []

    def keep(task: worker.Task, attempt: worker.Attempt) -> object:
        makers_kept.append(os.getpid())
        return worker.keep(task, attempt)

    monkeypatch.setattr(here, "keep", keep)
    return makers_kept


def run(folder: Path, runs: int = 1) -> dumbbell.Results:
    return dumbbell.run(schemes="cubic", path="pantheon-4", duration=1, runs=runs, out=folder / "out")


def test_a_single_run_is_made_in_this_process(tmp_path: Path, makers: list[int]) -> None:
    results = run(tmp_path)
    assert makers == [os.getpid()]
    assert [entry.status for entry in results.runs] == ["done"]
    assert f" pid={os.getpid()} " in next(tmp_path.glob("out/runs/*/*/1/log.txt")).read_text()


def test_several_runs_and_those_whose_logs_are_followed_have_processes(
    tmp_path: Path, makers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "several", runs=2)
    monkeypatch.setattr(logging.getLogger(logs.PACKAGE), "level", logging.INFO)
    run(tmp_path / "followed")
    assert makers == []


def test_the_logs_of_the_process_are_afterwards_as_they_were(tmp_path: Path) -> None:
    package, below = logging.getLogger(logs.PACKAGE), logging.getLogger(f"{logs.PACKAGE}.execution")
    below.setLevel(logging.ERROR)
    try:
        # The command's own handler is made anew.
        levels, handlers = (package.level, below.level), Counter(map(type, package.handlers))
        run(tmp_path)
        assert (package.level, below.level) == levels
        assert Counter(map(type, package.handlers)) == handlers
    finally:
        below.setLevel(logging.NOTSET)


def test_an_interrupt_while_a_run_is_kept_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(task: worker.Task, attempt: worker.Attempt) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return worker.keep(task, attempt)

    monkeypatch.setattr(here, "keep", keep)
    with pytest.raises(dumbbell.Interrupted):
        run(tmp_path)
    assert [entry.status for entry in dumbbell.open(tmp_path / "out").runs] == ["done"]
