"""Lateness of hosts' answers: the kernel's TCP and the built-in ends, behind the emulator.

Usage: python -m validation.host_jitter [--seconds S] [--busy N] [--rate MBPS] [--json FILE]. Needs what emulation needs
(`dumbbell doctor`). A receiver's delay is the time from a data packet that leaves the path to the next ACK that enters
it, with nothing else between them; a sender's that from an ACK that leaves the path to the next data packet. Both hold
what the emulator needs to read a packet. `--busy` starts as many processes that compute, at ordinary priority.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import dumbbell
from dumbbell.core.runs import emulate
from dumbbell.machine.emulation import require_emulation
from dumbbell.present.tables import Table, markdown

SEND, DELIVER, ACK_SEND, ACK_DELIVER = 0, 5, 7, 10
"""Numbers of events in packet logs."""
SIDES = {"receiver": (DELIVER, ACK_SEND), "sender": (ACK_DELIVER, SEND)}
PERCENTILES = (50.0, 90.0, 99.0, 99.9)
Delays = np.ndarray[Any, np.dtype[np.float64]]


def answers(times_ns: Delays, events: Delays, cause: int, effect: int) -> Delays:
    """Return the time from each `cause` to the `effect` that follows directly, us."""
    is_relevant = (events == cause) | (events == effect)
    times, kinds = times_ns[is_relevant], events[is_relevant]
    is_answered = (kinds[:-1] == cause) & (kinds[1:] == effect)
    delays: Delays = (times[1:][is_answered] - times[:-1][is_answered]) / 1e3
    return delays


def summary(delays: Delays) -> dict[str, float]:
    """Return figures of the distribution, us.

    Jitter is the excess over the 1st percentile, which is the cost of an answer.
    """
    jitter = delays - np.percentile(delays, 1.0)
    figures = {f"p{percent:g}": float(np.percentile(delays, percent)) for percent in PERCENTILES}
    return {"answers": len(delays), "jitter": float(np.mean(np.clip(jitter, 0.0, None))), **figures}


def measure(scheme: str, rate_mbps: float, seconds: float) -> dict[str, Any]:
    """Measure one flow over a link with 20 ms of delay and a queue of one BDP."""
    kernel = {"kernel": {"congestion_control": scheme.removeprefix("kernel-")}}
    flow = kernel if scheme.startswith("kernel-") else {"controller": scheme, "transport": {"profile": "tcp"}}
    queue = {"kind": "droptail", "bytes": int(rate_mbps * 1e6 / 8 * 0.02)}
    delay = {"kind": "delay", "delay_ms": 10.0}
    run = {
        "seed": 1,
        "duration_s": seconds,
        "log": "packets",
        "path": {"data": [{"kind": "link", "rate_mbps": rate_mbps, "queue": queue}, delay], "ack": [delay]},
        "flows": [{"scheme": scheme, **flow}],
    }
    with tempfile.TemporaryDirectory() as folder:
        emulation = emulate(run, Path(folder))["emulation"]
        log = pq.read_table(Path(folder) / "packets.parquet", columns=["time_ns", "event"])
    times, events = (log[name].to_numpy().astype(np.float64) for name in ("time_ns", "event"))
    sides = {side: summary(answers(times, events, *pair)) for side, pair in SIDES.items()}
    return {"scheme": scheme, "degraded": emulation["degraded"], "lateness_us": emulation["lateness_us"], **sides}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How late hosts answer, behind the emulator.")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    try:
        require_emulation()
    except dumbbell.Error as error:
        sys.exit(str(error))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
    try:
        measurements = [measure(scheme, options.rate, options.seconds) for scheme in ("kernel-cubic", "cubic")]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    load = os.getloadavg()[0]
    print(f"{options.rate:g} Mbit/s, {os.cpu_count()} processors, load {load:.1f}, {options.busy} of it ours; us\n")
    rows = []
    for measurement in measurements:
        for side in SIDES:
            figures = measurement[side]
            numbers = [f"{figures[f'p{percent:g}']:.0f}" for percent in PERCENTILES]
            rows.append([measurement["scheme"], side, figures["answers"], f"{figures['jitter']:.1f}", *numbers])
    print(
        markdown.render(Table.of(["end", "side", "answers", "jitter, mean", "median", "90th", "99th", "99.9th"], rows))
    )
    if options.json:
        options.json.write_text(json.dumps({"load": load, "busy": options.busy, "ends": measurements}, indent=1) + "\n")


if __name__ == "__main__":
    main()
