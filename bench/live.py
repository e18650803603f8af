"""Cost of watching runs with real packets: in the process of a run, and in the command that shows it.

Usage: python -m bench.live [--seconds S] [--repeats N] [--json FILE]. Needs what emulation needs (`dumbbell doctor`).
All figures are processor time in percent of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.emulation import flow
from dumbbell.core.runs import emulate
from dumbbell.machine.emulation import require_emulation

RATE_MBPS, DELAY_MS = 100.0, 20.0
SETTLES_S, LASTS_S = 4.0, 6.0
"""Time that the command gets to start, and then the time for which its CPU time is measured, s."""
PLAIN = ["run", "--schemes", "cubic", "--rate", "100mbit", "--rtt", "40ms", "--backend", "emu", "--runs", "1"]


def specification(seconds: float) -> str:
    """Return a run spec of two flows over one link."""
    queue = {"kind": "droptail", "bytes": int(RATE_MBPS * 1e6 * 2 * DELAY_MS / 1e3 / 8)}
    delay = {"kind": "delay", "delay_ms": DELAY_MS}
    data = [{"kind": "link", "rate_mbps": RATE_MBPS, "queue": queue}, delay]
    path = {"data": data, "ack": [delay]}
    flows = [flow("cubic"), flow("bbr")]
    return {"seed": 1, "duration_s": seconds, "log": "none", "path": path, "flows": flows}


def of_showing(seconds: float, repeats: int) -> dict[str, float]:
    """Return the CPU time of a run for its file, without the other work of the writing thread."""
    cpu_percents: dict[bool, list[float]] = {True: [], False: []}
    process_percents = []
    with TemporaryDirectory() as folder:
        for is_shown in [True, False] * repeats:
            live = (f"{folder}/0.live.json", 1) if is_shown else None
            before, all_before = time.thread_time(), time.process_time()
            emulate(specification(seconds), Path(folder), None, live)
            cpu_percents[is_shown].append((time.thread_time() - before) / seconds * 100)
            process_percents.append((time.process_time() - all_before) / seconds * 100)
    with_file, without = statistics.median(cpu_percents[True]), statistics.median(cpu_percents[False])
    return {"its own thread, with": with_file, "without": without, "showing": with_file - without} | {
        "the whole process": statistics.median(process_percents)
    }


def processor_s(process: int) -> float:
    """Return the CPU time of a process without its children, s."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def listen(address: str) -> None:
    """Read the server's events until they end, as a page does."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    base, _, query = address.partition("/?")
    with opener.open(f"{base}/?{query.partition('#')[0]}"), opener.open(f"{base}/data/live") as events:
        for _ in events:
            pass


def of_command(words: list[str]) -> float:
    """Return the CPU time of the command while its run goes on. Another process makes the run."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dumbbell", *PLAIN, "--duration", str(SETTLES_S + LASTS_S + 2)]
        process = subprocess.Popen(
            [*command, "--out", f"{folder}/out", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        stderr = process.stderr
        begin = threading.Event()

        def read() -> None:
            for line in stderr:
                if match := re.search(r"http://\S+", line):
                    threading.Thread(target=listen, args=(match[0],), daemon=True).start()
                if " runs, " in line:
                    begin.set()

        reader = threading.Thread(target=read)
        reader.start()
        begin.wait(60.0)
        time.sleep(SETTLES_S)
        before = processor_s(process.pid)
        time.sleep(LASTS_S)
        used = (processor_s(process.pid) - before) / LASTS_S * 100
        process.terminate()
        process.wait()
        reader.join()
    return used


def main() -> int:
    """Measure and print. Return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    require_emulation()
    figures = of_showing(arguments.seconds, arguments.repeats)
    ways: dict[str, Callable[[], float]] = {
        "the command": lambda: of_command([]),
        "the command with --watch": lambda: of_command(["--watch"]),
        "the command with --live and a page": lambda: of_command(["--live"]),
    }
    for name, measure in ways.items():
        figures[name] = statistics.median(measure() for _ in range(arguments.repeats))
    for name, value in figures.items():
        print(f"{name:40} {value:6.2f} % of a core")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
