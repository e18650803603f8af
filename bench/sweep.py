"""Scaling of short runs over CPUs: runs per second with 1, 2, ... processes, side by side.

Usage: python -m bench.sweep [--runs 10000] [--rounds 3] [--duration 15] [--jobs N] [--write docs/develop/speed.md].
The runs are ccperf's: one flow on `default`, 15 s, no packet log. The ratio is (runs/s on N processors) / (N times
runs/s on one), from rounds that alternate; the round on one processor makes a tenth of the runs. The command on one
processor has nothing else: what is not simulation (recording, writing to disk) shares it.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

ROOT = Path(__file__).parent.parent


def rate(out: Path, runs: int, duration: float, jobs: int) -> float:
    """Return the runs per second of one sweep on as many CPUs as processes, including the command's start."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "dumbbell", "run", "--schemes", "reno", "--path", "default", "--log", "none"]
    command += ["--duration", str(duration), "--runs", str(runs), "--jobs", str(jobs), "--out", str(out)]
    command += ["--set", "start_spread_ms=100"]
    processors = sorted(os.sched_getaffinity(0))[:jobs]
    command = ["taskset", "--cpu-list", ",".join(map(str, processors)), *command]
    start_s = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return runs / (time.monotonic() - start_s)


def main() -> None:
    """Measure and print; write the page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--duration", type=float, default=15.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    ones, alls = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            ones.append(rate(Path(folder) / "out", max(1, arguments.runs // 10), arguments.duration, 1))
            alls.append(rate(Path(folder) / "out", arguments.runs, arguments.duration, arguments.jobs))
            print(f"1 processor: {ones[-1]:.1f} runs/s; {arguments.jobs} processors: {alls[-1]:.1f} runs/s")
    one_rate, every = statistics.median(ones), statistics.median(alls)
    share = every / one_rate / arguments.jobs
    head = ["processors", f"runs/s (median of {arguments.rounds} rounds)"]
    text = (
        f"{markdown.render(Table.of(head, [(1, f'{one_rate:.1f}'), (arguments.jobs, f'{every:.1f}')]))}\n\n"
        f"{arguments.runs} runs of {arguments.duration:g} s each: {share:.0%} of {arguments.jobs} x the rate of one."
    )
    print(text)
    if arguments.write:
        replace_block(arguments.write, "sweep", text)


if __name__ == "__main__":
    main()
