"""Decision steps per second of environments, side by side: dumbbell.gym, ns-3 behind a bridge, an event loop in Python.

Usage: python benchmarks/gym.py [--seconds S] [--write docs/gym.md]. Needs the extra `gym`; g++ and libns3-dev for ns-3.
Each is measured in turn for about S seconds, three times; the median counts. CPU time is that of all threads
and, of ns-3, of both processes, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import heapq
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from blocks import replace_block
from speed import NS3_MODULES, ROOT

import dumbbell
from dumbbell import gym

COUNT = 256
"""Environments side by side."""

Measured = tuple[int, float, float]
"""Steps, CPU seconds, wall seconds."""


def vector(
    path: dumbbell.PathModel, actions: Callable[[np.random.Generator], np.ndarray], seconds: float, **given: object
) -> Measured:
    """Steps of many environments, resets included."""
    many = gym.CongestionVectorEnv(path, num_envs=COUNT, copy=False, **given)  # type: ignore[arg-type]
    draws = np.random.default_rng(1)
    taken = [actions(draws) for _ in range(32)]
    many.reset(seed=1)
    for step in range(50):
        many.step(taken[step % len(taken)])
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        for each in taken:
            many.step(each)
        steps += len(taken) * COUNT
    return steps, time.process_time() - cpu, time.perf_counter() - wall


TEN_MS = gym.Policy(
    ("latency_ratio", "send_ratio", "loss_ratio"), 10, "cwnd_mult2:0.05", "time_ms:10", start_packets=60
)


def link_of_12_mbit(seconds: float, threads: int = 1) -> Measured:
    """12 Mbit/s, 60 ms, 60 packets, a step every 10 ms, a window that wanders about the BDP."""
    path = dumbbell.make_path(rate="12mbit", rtt="60ms", queue="60p")
    return vector(
        path, lambda draws: draws.uniform(-1, 1, (COUNT, 1)), seconds, policy=TEN_MS, threads=threads, duration_s=30
    )


def aurora_ranges(seconds: float, share: tuple[float, float], size: float, threads: int = 1) -> Measured:
    """Aurora's: 100 to 500 packets/s, RTT 0.1 to 1 s, queue of 2 to 2982 packets, loss 0 to 5 %, half an RTT a step."""
    path = dumbbell.make_path(rate="1mbit", rtt="100ms", queue="100p", loss="1%")
    vary = {
        "rate_mbps": (1.2, 6.0),
        "rtt_ms": (100.0, 1000.0),
        "queue_packets": gym.LogUniform(2, 2982),
        "loss": (0.0, 0.05),
        "start_share": share,
    }
    return vector(
        path,
        lambda draws: size * draws.uniform(-1, 1, (COUNT, 1)),
        seconds,
        policy="like-aurora",
        vary=vary,
        threads=threads,
        max_steps=400,
        duration_s=10_000.0,
    )


class PythonLoop:
    """One sender on a link, event by event with a heap, packets as tuples: the usual way to write such a simulator.

    What it does per packet is what PCC-RL's simulator does (PCCproject/PCC-RL@64bea6ee, `src/gym/network_sim.py`): an
    event for the send and one for each of the two links; a queue that is a delay; lists of RTTs of each step.
    """

    def __init__(self, draws: random.Random, share: tuple[float, float]) -> None:
        self.rate = draws.uniform(100, 500)
        self.delay = draws.uniform(0.05, 0.5)
        self.longest = (1 + np.exp(draws.uniform(0, 8))) / self.rate
        self.loss = draws.uniform(0, 0.05)
        self.draws = draws
        self.sending = self.rate * draws.uniform(*share)
        self.queued, self.queued_at = 0.0, 0.0
        self.now, self.length, self.least = 0.0, 3 * self.delay, 0.0
        self.events: list[tuple[float, int, str, int, float, bool]] = []
        self.number = 0
        self.history = [[0.0, 1.0, 1.0]] * 10
        self.push(1.0 / self.sending, "send", 0, 0.0, False)

    def push(self, at: float, kind: str, hop: int, latency: float, dropped: bool) -> None:
        """One more event."""
        self.number += 1
        heapq.heappush(self.events, (at, self.number, kind, hop, latency, dropped))

    def step(self, action: float) -> tuple[np.ndarray, float]:
        """Runs to the end of a step."""
        factor = 0.025 * action
        self.sending = max(40.0, self.sending * (1 + factor) if factor >= 0 else self.sending / (1 - factor))
        end = self.now + self.length
        sent = acked = lost = 0
        rtts: list[float] = []
        while self.now < end:
            self.now, _, kind, hop, latency, dropped = heapq.heappop(self.events)
            if kind == "ack" and hop == 2:
                if dropped:
                    lost += 1
                else:
                    acked += 1
                    rtts.append(latency)
                continue
            at, passed = self.now, latency
            if kind == "ack":
                passed += self.delay
                self.push(at + self.delay, "ack", hop + 1, passed, dropped)
                continue
            sent += 1
            self.push(at + 1.0 / self.sending, "send", 0, 0.0, False)
            waits = max(0.0, self.queued - (at - self.queued_at))
            self.queued, self.queued_at = waits, at
            if self.draws.random() < self.loss or waits + 1.0 / self.rate > self.longest:
                dropped = True
            else:
                self.queued += 1.0 / self.rate
            self.push(at + self.delay + waits, "ack", 1, passed + self.delay + waits, dropped)
        mean = float(np.mean(rtts)) if rtts else 0.0
        half = len(rtts) // 2
        change = float(np.mean(rtts[half:]) - np.mean(rtts[:half])) if half else 0.0
        self.least = min(self.least, mean) if self.least and mean else mean or self.least
        ratio = mean / self.least if self.least else 1.0
        self.history = [*self.history[1:], [change / self.length, ratio, sent / acked if acked else 1.0]]
        throughput, share = acked / self.length, lost / (lost + acked) if lost else 0.0
        self.length = 0.5 * mean if mean else self.length
        return np.array(self.history).flatten(), 0.001 * (10 * throughput - 1000 * mean - 2000 * share)


def python_loop(seconds: float, share: tuple[float, float], size: float) -> Measured:
    """Episodes of 40 steps in that loop: many links in a short time."""
    draws = random.Random(1)
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        loop = PythonLoop(draws, share)
        for _ in range(40):
            loop.step(size * draws.uniform(-1, 1))
            steps += 1
            if time.process_time() - cpu > seconds:
                break
    return steps, time.process_time() - cpu, time.perf_counter() - wall


def bridge(program: Path, seconds: float) -> Measured:
    """ns-3 on the link of 12 Mbit/s, a line of text each way per step."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    draws = random.Random(1)
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        process.stdout.readline()
        process.stdin.write(f"{2 ** (0.05 * draws.uniform(-1, 1))}\n")
        process.stdin.flush()
        steps += 1
    taken = time.perf_counter() - wall
    process.stdin.close()
    process.stdout.read()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return steps, time.process_time() - cpu + theirs, taken


def built_bridge(scratch: Path) -> Path | None:
    """The program, where ns-3 is."""
    probe = ["pkg-config", "--cflags", "--libs", *NS3_MODULES]
    found = subprocess.run(probe, capture_output=True, text=True, check=False) if shutil.which("pkg-config") else None
    if found is None or found.returncode:
        sys.stderr.write("ns-3 is not installed (Debian: libns3-dev): no ratio\n")
        return None
    program = scratch / "gym"
    source = ROOT / "benchmarks" / "ns3" / "gym.cc"
    subprocess.run(["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *found.stdout.split()], check=True)
    return program


HOLDS, DRIVES = ((0.9, 0.9), 0.0), ((0.3, 1.5), 1.0)
"""An agent that holds nine tenths of the link; one that starts as Aurora's training does and acts at random."""


def main() -> None:
    """Measures everything and prints or writes the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    seconds, cores = options.seconds, len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="dumbbell-") as folder:
        program = built_bridge(Path(folder))
        measured: dict[str, Callable[[], Measured]] = {
            "12 Mbit/s, steps of 10 ms": lambda: link_of_12_mbit(seconds),
            "the same in ns-3 3.37 behind a bridge": lambda: bridge(program or Path(), seconds),
            "Aurora's ranges, 9/10 of the link": lambda: aurora_ranges(seconds, *HOLDS),
            f"the same on {cores} threads": lambda: aurora_ranges(seconds, *HOLDS, threads=cores),
            "the same in Python, event by event": lambda: python_loop(seconds, *HOLDS),
            "Aurora's ranges, at random": lambda: aurora_ranges(seconds, *DRIVES),
        }
        if program is None:
            del measured["the same in ns-3 3.37 behind a bridge"]
        rounds = [{name: measure() for name, measure in measured.items()} for _ in range(3)]
    rows, per_core = [], {}
    for name in measured:
        per_core[name] = statistics.median(steps / cpu for steps, cpu, _ in (each[name] for each in rounds))
        wall = statistics.median(steps / taken for steps, _, taken in (each[name] for each in rounds))
        rows.append(f"| {name} | {per_core[name]:,.0f} | {1e6 / per_core[name]:.2f} | {wall:,.0f} |")
    names = list(measured)
    first = per_core[names[0]]
    python = per_core["Aurora's ranges, 9/10 of the link"] / per_core["the same in Python, event by event"]
    lines = [
        "| | steps per CPU second | CPU per step, us | steps per second |",
        "|---|---:|---:|---:|",
        *rows,
        "",
        f"Against the loop in Python: {python:.0f} times as many steps per CPU second."
        + (
            f" Against ns-3: {first / per_core['the same in ns-3 3.37 behind a bridge']:.0f} times."
            if program is not None
            else ""
        ),
    ]
    if options.write:
        replace_block(options.write, "gym", "\n".join(lines))
    else:
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
