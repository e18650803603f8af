"""Speed of viewing a long run: the time to build its index, and to make windows of all widths.

Usage: python -m bench.views [--duration 41] [--rounds 5] [--write docs/how-to/explorer.md].
The run is CUBIC over 1 Gbit/s and 40 ms with `--log packets`: 10 million rows in 41 s.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dumbbell._core import RunView
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

SERIES = json.dumps(["throughput", "send_rate", "one_way_delay", "rtt", "cwnd", "in_flight", "queue"])
WINDOWS_S = (20.0, 5.0, 1.0, 0.1, 0.01, 0.001, 0.000001)


def seconds(rounds: int, work: Callable[[], object]) -> float:
    """Return the median time of several rounds."""
    times = []
    for _ in range(rounds):
        start_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - start_s)
    return statistics.median(times)


def measure(run: Path, duration: float, rounds: int) -> list[tuple[str, str]]:
    """Return the names and times of the operations."""
    files = run / "packets.parquet", run / "flows.parquet", run / "links.parquet"
    build = seconds(min(rounds, 3), lambda: RunView(*files))
    view = RunView(*files)
    index = view.index()
    rows = [
        ("build it from the files", f"{build:.2f} s"),
        ("open it from the cache", f"{1e3 * seconds(rounds, lambda: RunView(*files, index)):.1f} ms"),
        ("size in the cache", f"{len(index) / 1e6:.2f} MB"),
        ("all of the run", f"{1e3 * seconds(rounds, lambda: view.window(0.0, duration * 1e9, 1500, SERIES)):.1f} ms"),
    ]
    for width in WINDOWS_S:
        start = duration / 2 * 1e9

        def window(width: float = width, start: float = start) -> bytes:
            return view.window(start, min(duration * 1e9, start + width * 1e9), 1500, SERIES)

        rows.append((f"{width:g} s of it", f"{1e3 * seconds(rounds, window):.1f} ms"))
    half = duration / 2 * 1e9
    rows.append(
        ("packets of 0.1 s", f"{1e3 * seconds(rounds, lambda: view.packets(half, half + 1e8, 0, 100_000)):.1f} ms")
    )
    rows.append(("the life of a packet", f"{1e3 * seconds(rounds, lambda: view.life(1, 1000 * int(duration))):.1f} ms"))
    rows.append(("the reading", f"{seconds(1, view.reading):.2f} s"))
    return rows


def main() -> None:
    """Measure and print. Write the page if asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--duration", type=float, default=41.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dumbbell", "run", "--schemes", "cubic", "--rate", "1gbit", "--rtt", "40ms"]
        command += ["--duration", str(arguments.duration), "--log", "packets", "--out", f"{folder}/out"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        [run] = (Path(folder) / "out" / "runs").glob("*/*/*")
        rows = measure(run, arguments.duration, arguments.rounds)
        size = (run / "packets.parquet").stat().st_size / 1e6
    text = (
        f"{markdown.render(Table.of(['what', 'median time'], rows))}\n\n"
        f"CUBIC over 1 Gbit/s for {arguments.duration:g} s: a packet log of {size:.1f} MB."
    )
    print(text)
    if arguments.write:
        replace_block(arguments.write, "views", text)


if __name__ == "__main__":
    main()
