"""How much memory commands take: the length of a log must not matter."""

import subprocess
import sys
from pathlib import Path

from conftest import COMMAND, Dumbbell
from paths import path_text

APART = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""A small process between: what a process is forked from counts as its own memory."""


def most_mib(folder: Path, *arguments: str) -> float:
    """What a command took at most; drawings of one run are made by the command itself."""
    command = [sys.executable, "-c", APART, *COMMAND, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return int(done.stdout) / 1024


def test_the_report_of_a_long_run_takes_no_more_memory_than_that_of_a_short_one(
    dumbbell: Dumbbell, folder: Path
) -> None:
    # An hour at 100 Mbit/s took 1.95 GB: every packet was in memory, several times.
    (folder / "fast.toml").write_text(path_text(100.0, 20.0, 'queue = { kind = "droptail", packets = 300 }'))
    taken = {}
    for seconds in (60, 600):
        out = f"out{seconds}"
        dumbbell("run", "--schemes", "cubic", "--path", "fast.toml", "--duration", seconds, "--out", out)
        taken[seconds] = most_mib(folder, "report", out)
    assert taken[600] < taken[60] + 60.0, taken
    assert taken[600] < 300.0, taken
