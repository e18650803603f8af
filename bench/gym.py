"""Decision steps per second of environments, side by side: dumbbell_gym, ns-3 behind a bridge, simulators in Python.

Usage: python -m bench.gym [--seconds S] [--pcc-rl DIR] [--write docs/how-to/gym.md]. Needs the extra `gym`; g++ and
libns3-dev for ns-3; for PCC-RL's own simulator a clone of PCCproject/PCC-RL@64bea6ee in DIR.
Each is measured in turn for about S seconds, three times; the median counts. CPU time is that of all threads
and, of ns-3, of both processes, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import importlib
import io
import os
import platform
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
from typing import Any

import gymnasium
import numpy as np

import dumbbell
import dumbbell_gym as gym
from bench.speed import NS3_MODULES, ROOT
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

COUNT, MORE = 64, (256, 1024)
"""Numbers of environments side by side. The larger ones do not fit into the cache of a core."""

LINK = "12 Mbit/s, steps of 10 ms"
NS3 = "the same in ns-3 3.37 behind a bridge"
RANGES = "Aurora's ranges, 9/10 of the link"
LOOP = "the same in Python, event by event"
ORIGINAL = "the same in PCC-RL's own simulator"
DRIVEN = "Aurora's ranges, at random"

THERE = 256
"""Number of actions before they are taken back."""

Measurement = tuple[int, float, float]
"""Steps, CPU seconds, wall seconds."""


def vector(
    path: dumbbell.PathModel, size: float, seconds: float, count: int = COUNT, **settings: object
) -> Measurement:
    """Measure steps of many environments, resets included; actions are between -`size` and `size`.

    Each action is taken back later, so that no window or rate drifts away from its initial value.
    """
    environments = gym.CongestionVectorEnv(path, num_envs=count, copy=False, **settings)  # type: ignore[arg-type]
    draws = np.random.default_rng(1)
    actions = [size * draws.uniform(-1, 1, (count, 1)) for _ in range(THERE)]
    cycle = [*actions, *(-action for action in actions)]
    environments.reset(seed=1)
    for step in range(50):
        environments.step(cycle[step % len(cycle)])
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        for action in cycle:
            environments.step(action)
        steps += len(cycle) * count
    return steps, time.process_time() - cpu, time.perf_counter() - wall


TEN_MS = gym.Policy(
    ("latency_ratio", "send_ratio", "loss_ratio"), 10, "cwnd_mult2:0.05", "time_ms:10", start_packets=60
)


def link_of_12_mbit(seconds: float, count: int = COUNT) -> Measurement:
    """Measure 12 Mbit/s, 60 ms, 60 packets, a step every 10 ms, with a window that varies about the BDP."""
    path = dumbbell.make_path(rate="12mbit", rtt="60ms", queue="60p")
    return vector(path, 1.0, seconds, count, policy=TEN_MS, threads=1, duration_s=30)


def aurora_ranges(seconds: float, share: tuple[float, float], size: float, threads: int = 1) -> Measurement:
    """Measure Aurora's ranges, with half an RTT per step.

    The ranges are 100 to 500 packets/s, RTT 0.1 to 1 s, queue of 2 to 2982 packets, loss 0 to 5 %.
    """
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
        size,
        seconds,
        policy="like-aurora",
        vary=vary,
        threads=threads,
        max_steps=400,
        duration_s=10_000.0,
    )


class PythonLoop:
    """One sender on a link, simulated event by event with a heap, as such simulators usually are; packets are tuples.

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

    def push(self, at: float, kind: str, hop: int, latency: float, is_dropped: bool) -> None:
        """Add an event."""
        self.number += 1
        heapq.heappush(self.events, (at, self.number, kind, hop, latency, is_dropped))

    def step(self, action: float) -> tuple[np.ndarray, float]:
        """Run to the end of a step."""
        factor = 0.025 * action
        self.sending = max(40.0, self.sending * (1 + factor) if factor >= 0 else self.sending / (1 - factor))
        end = self.now + self.length
        sent_count = acked_count = lost_count = 0
        rtts: list[float] = []
        while self.now < end:
            self.now, _, kind, hop, latency, is_dropped = heapq.heappop(self.events)
            if kind == "ack" and hop == 2:
                if is_dropped:
                    lost_count += 1
                else:
                    acked_count += 1
                    rtts.append(latency)
                continue
            at, latency_so_far = self.now, latency
            if kind == "ack":
                latency_so_far += self.delay
                self.push(at + self.delay, "ack", hop + 1, latency_so_far, is_dropped)
                continue
            sent_count += 1
            self.push(at + 1.0 / self.sending, "send", 0, 0.0, False)
            waits = max(0.0, self.queued - (at - self.queued_at))
            self.queued, self.queued_at = waits, at
            if self.draws.random() < self.loss or waits + 1.0 / self.rate > self.longest:
                is_dropped = True
            else:
                self.queued += 1.0 / self.rate
            self.push(at + self.delay + waits, "ack", 1, latency_so_far + self.delay + waits, is_dropped)
        mean = float(np.mean(rtts)) if rtts else 0.0
        half = len(rtts) // 2
        change = float(np.mean(rtts[half:]) - np.mean(rtts[:half])) if half else 0.0
        self.least = min(self.least, mean) if self.least and mean else mean or self.least
        ratio = mean / self.least if self.least else 1.0
        self.history = [
            *self.history[1:],
            [change / self.length, ratio, sent_count / acked_count if acked_count else 1.0],
        ]
        throughput, share = acked_count / self.length, lost_count / (lost_count + acked_count) if lost_count else 0.0
        self.length = 0.5 * mean if mean else self.length
        return np.array(self.history).flatten(), 0.001 * (10 * throughput - 1000 * mean - 2000 * share)


def python_loop(seconds: float, share: tuple[float, float], size: float) -> Measurement:
    """Measure episodes of 40 steps in this loop: many links in a short time."""
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


def import_clone(clone: Path) -> Any:  # noqa: ANN401 (whatever is in the clone)
    """Return PCC-RL's own simulator. Its `gym` is gymnasium today; nothing else that it uses has changed."""
    names = ("", ".spaces", ".utils", ".utils.seeding", ".envs", ".envs.registration")
    own_modules = {f"gym{name}": sys.modules.get(f"gym{name}") for name in names}
    sys.modules.update({f"gym{name}": importlib.import_module(f"gymnasium{name}") for name in names})
    sys.path.insert(0, str(clone / "src" / "gym"))
    try:
        return importlib.import_module("network_sim")
    except ModuleNotFoundError as error:
        sys.exit(f"--pcc-rl {clone}: {error}: allowed is a clone of PCCproject/PCC-RL@64bea6ee")
    finally:
        sys.path.pop(0)
        for name, module in own_modules.items():
            sys.modules.pop(name) if module is None else sys.modules.__setitem__(name, module)


def pcc_rl(simulator: Any, seconds: float, share: tuple[float, float], size: float) -> Measurement:  # noqa: ANN401
    """Measure episodes of 400 steps, PCC-RL's number, in its simulator, with its ranges and the given first rate."""
    random.seed(1)
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        simulated_network = simulator.SimulatedNetworkEnv()
        create = simulated_network.create_new_links_and_senders

        def create_links() -> None:
            create()
            sender = simulated_network.senders[0]
            sender.rate = sender.starting_rate = random.uniform(*share) * simulated_network.links[0].bw

        simulated_network.create_new_links_and_senders = create_links
        steps, wall, cpu = 0, time.perf_counter(), time.process_time()
        while time.process_time() - cpu < seconds:
            simulated_network.reset()
            over = False
            while not over and time.process_time() - cpu < seconds:
                _, _, over, _ = simulated_network.step(np.array([size * random.uniform(-1, 1)]))
                steps += 1
        return steps, time.process_time() - cpu, time.perf_counter() - wall


def bridge(program: Path, seconds: float) -> Measurement:
    """Measure ns-3 on the link of 12 Mbit/s, with a line of text in each direction per step."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    draws = random.Random(1)
    actions = [draws.uniform(-1, 1) for _ in range(THERE)]
    taken_back = [*actions, *(-action for action in actions)]
    steps, wall, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < seconds:
        process.stdout.readline()
        process.stdin.write(f"{2 ** (0.05 * taken_back[steps % len(taken_back)])}\n")
        process.stdin.flush()
        steps += 1
    wall_s = time.perf_counter() - wall
    process.stdin.close()
    process.stdout.read()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    child_cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return steps, time.process_time() - cpu + child_cpu_s, wall_s


def built_bridge(scratch: Path) -> Path | None:
    """Build the program if ns-3 is installed; return its path or None."""
    probe = ["pkg-config", "--cflags", "--libs", *NS3_MODULES]
    probe_result = (
        subprocess.run(probe, capture_output=True, text=True, check=False) if shutil.which("pkg-config") else None
    )
    if probe_result is None or probe_result.returncode:
        sys.stderr.write("ns-3 is not installed (Debian: libns3-dev): no ratio\n")
        return None
    program = scratch / "gym"
    source = ROOT / "bench" / "ns3" / "gym.cc"
    subprocess.run(
        ["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *probe_result.stdout.split()], check=True
    )
    return program


HOLDS, DRIVES = ((0.9, 0.9), 0.0), ((0.3, 1.5), 1.0)
"""An agent that holds nine tenths of the link, and one that starts as Aurora's training does and acts at random."""


def table(rounds: list[dict[str, Measurement]], threads: str) -> list[str]:
    """Return the medians of the rounds, and the ratios of their speeds."""
    rows, core, wall = [], {}, {}
    for name in rounds[0]:
        core[name] = statistics.median(steps / cpu for steps, cpu, _ in (rates[name] for rates in rounds))
        wall[name] = statistics.median(steps / wall_s for steps, _, wall_s in (rates[name] for rates in rounds))
        rows.append(f"| {name} | {core[name]:,.0f} | {1e6 / core[name]:.2f} | {wall[name]:,.0f} |")
    ratios = [f"Against the loop in Python: {core[RANGES] / core[LOOP]:.0f} times as many steps per CPU second."]
    if ORIGINAL in core:
        ratios.append(
            f"Against PCC-RL's own simulator: {core[RANGES] / core[ORIGINAL]:.0f} times per CPU second, "
            f"{core[DRIVEN] / core[f'{ORIGINAL}, at random']:.0f} times at random, and "
            f"{wall[threads] / wall[ORIGINAL]:.0f} times as many steps per second on all threads as it on its one."
        )
    if NS3 in core:
        ratios.append(f"Against ns-3: {core[LINK] / core[NS3]:.0f} times.")
    titles = ["| | steps per CPU second | CPU per step, us | steps per second |", "|---|---:|---:|---:|"]
    return [*titles, *rows, "", " ".join(ratios)]


def versions() -> str:
    """Return the machine and the versions that the figures belong to."""
    model = environment([])["cpu"]
    return (
        f"{model}, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f} as it began; "
        f"Python {platform.python_version()}, numpy {np.__version__}, gymnasium {gymnasium.__version__}."
    )


def main() -> None:
    """Measure everything and print or write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--pcc-rl", type=Path, metavar="DIR", help="a clone of PCCproject/PCC-RL@64bea6ee")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    seconds, cores, version_text = options.seconds, len(os.sched_getaffinity(0)), versions()
    original = None if options.pcc_rl is None else import_clone(options.pcc_rl.resolve())
    threads = f"the same on {cores} threads"
    with tempfile.TemporaryDirectory(prefix="dumbbell-") as folder:
        program = built_bridge(Path(folder))
        measurements: dict[str, Callable[[], Measurement]] = {LINK: lambda: link_of_12_mbit(seconds)}
        for count in MORE:
            measurements[f"the same, {count} environments"] = lambda count=count: link_of_12_mbit(seconds, count)
        if program is not None:
            measurements[NS3] = lambda: bridge(program, seconds)
        measurements[RANGES] = lambda: aurora_ranges(seconds, *HOLDS)
        measurements[threads] = lambda: aurora_ranges(seconds, *HOLDS, threads=cores)
        measurements[LOOP] = lambda: python_loop(seconds, *HOLDS)
        measurements[DRIVEN] = lambda: aurora_ranges(seconds, *DRIVES)
        if original is not None:
            measurements[ORIGINAL] = lambda: pcc_rl(original, seconds, *HOLDS)
            measurements[f"{ORIGINAL}, at random"] = lambda: pcc_rl(original, seconds, *DRIVES)
        rounds = [{name: measure() for name, measure in measurements.items()} for _ in range(3)]
    lines = [*table(rounds, threads), "", version_text]
    if options.write:
        replace_block(options.write, "gym", "\n".join(lines))
    else:
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
