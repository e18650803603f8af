"""Tests of killed processes of a cluster that makes runs: each run is whole or absent, and the command continues."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.clusters import running
from support.commands.command import Dumbbell
from support.waiting import TIMEOUT_S, wait_for

pytest.importorskip("distributed", reason="distributed is not installed: `make test` does it")
pytestmark = pytest.mark.kills

WORDS = ["run", "--schemes", "reno,cubic,bbr,vegas", "--path", "lossy.toml", "--duration", "20", "--runs", "3"]


@pytest.mark.parametrize("least_made", [1, 4, 8])
def test_a_command_that_is_killed_leaves_whole_runs_and_is_continued(
    dumbbell: Dumbbell, folder: Path, least_made: int
) -> None:
    with running(folder) as address:
        command = [sys.executable, "-P", "-m", "dumbbell", *WORDS, "--out", "out", "--cluster", address]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        find_files = (folder / "out/runs").glob
        wait_for(
            lambda: len(list(find_files("*/*/*/stats.json"))) >= least_made or process.poll() is not None,
            "no run was finished",
        )
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)
        # The index was not closed, but no run is damaged.
        assert "damaged: " not in dumbbell("verify", "out", expect=None).stdout
        dumbbell("run", "--resume", "--out", "out", "--cluster", address)
    assert "12 of 12 finished runs are whole" in dumbbell("verify", "--deep", "out").stdout
    assert not (folder / "out/runs/.unfinished").exists()
