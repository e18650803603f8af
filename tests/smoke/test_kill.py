"""A command that is killed loses nothing that was finished, and `--resume` does the rest."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from support.commands.command import Dumbbell, show
from support.waiting import wait_for

RUNS = 60


@pytest.mark.smoke
def test_what_was_finished_survives_a_kill(start: Callable[..., Popen[str]], dumbbell: Dumbbell, folder: Path) -> None:
    words = ("--schemes", "reno", "--path", "small.toml", "--duration", "20", "--runs", RUNS, "--jobs", "1")
    process = start("run", *words, "--out", "out")
    out = folder / "out"
    wait_for(lambda: list(out.glob("runs/small/reno/*/stats.json")))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    finished_files = {file: file.read_bytes() for file in out.glob("runs/small/reno/*/*") if file.name != "log.txt"}
    dumbbell("run", "--resume", "--out", "out")
    assert {file: file.read_bytes() for file in finished_files} == finished_files
    assert [run["status"] for run in show(dumbbell, "out")["runs"]] == ["done"] * RUNS
    dumbbell("verify", "out")
