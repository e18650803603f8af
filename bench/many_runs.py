"""Cost of a short run, with files and with numbers only, in turn: CPU time, bytes, and CPU time of `show`.

Usage: python -m bench.many_runs [--runs 100000] [--rounds 3] [--write docs/how-to/many-runs.md].
A run is CUBIC on 12 Mbit/s for 1 s, some 1000 packets. With files, a twentieth of the runs is made, without packet
logs. "Beside the loop" is the CPU time of the command without the time in the simulator's loop, start of the command
included.
"""

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from bench.startup import DUMBBELL, cpu_ms
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

RUN = ("--schemes", "cubic", "--rate", "12mbit", "--rtt", "40ms", "--duration", "1", "--log", "none")


@dataclass(frozen=True)
class Cost:
    """Cost of a run: CPU time and CPU time beside the loop, ms; wall time of all runs, s; bytes."""

    cpu_ms: float
    beside_ms: float
    wall_s: float
    size_bytes: float


def command(*words: str) -> tuple[float, float]:
    """Run a command of dumbbell and return its CPU time and its wall time, s."""
    began = time.monotonic()
    cpu_s = cpu_ms([*DUMBBELL, *words], quiet=True) / 1e3
    return cpu_s, time.monotonic() - began


def cost(out: Path, runs: int, *more: str) -> Cost:
    """Return the cost of a run when `runs` runs are made."""
    cpu_s, wall_s = command("run", *RUN, "--runs", str(runs), "--out", str(out), *more)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    loop_s = sum(run.statistics["sim_wall_s"] or 0.0 for run in dumbbell.open(out).runs[:1000]) / min(runs, 1000)
    return Cost(cpu_s / runs * 1e3, (cpu_s / runs - loop_s) * 1e3, wall_s, size / runs)


def main() -> None:
    """Measure and print; write the page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    few_runs = max(1, arguments.runs // 20)
    files, numbers, show_times = [], [], []
    for number in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            files.append(cost(Path(folder) / "files", few_runs))
            numbers.append(cost(Path(folder) / "numbers", arguments.runs, "--keep", "numbers"))
            show_times.append(command("show", str(Path(folder) / "numbers"))[0])
            print(f"round {number + 1}: {files[-1]} {numbers[-1]} show {show_times[-1]:.2f} s", flush=True)
    rows = [
        (
            name,
            runs,
            *(
                f"{statistics.median(getattr(cost_figures, key) for cost_figures in costs):.{digits}f}"
                for key, digits in _SHOWN
            ),
        )
        for name, runs, costs in (("with files", few_runs, files), ("numbers only", arguments.runs, numbers))
    ]
    head = ["runs are kept", "runs", "CPU ms per run", "of these beside the loop", "bytes per run", "all runs, s"]
    text = (
        f"{markdown.render(Table.of(head, rows))}\n\n"
        f"Medians of {arguments.rounds} rounds in turn on {os.cpu_count()} processors. `dumbbell show` of the "
        f"{arguments.runs} runs takes {statistics.median(show_times):.2f} s of CPU time."
    )
    print(text)
    if arguments.write:
        replace_block(arguments.write, "many runs", text)


_SHOWN = (("cpu_ms", 3), ("beside_ms", 3), ("size_bytes", 0), ("wall_s", 1))

if __name__ == "__main__":
    main()
