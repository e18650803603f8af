"""Comparison of Sprout over the cellular presets with its figures over the recorded links.

Usage: python -m validation.cellular_sprout [--seconds S] [--runs N]. Method of the paper (Winstein et al., Sprout,
NSDI 2013, section 5.1): throughput is UDP payload over time; delay is the 95th percentile over time of the age of the
newest packet that has arrived, less that of an omniscient sender, whose packets arrive at every opportunity after
20 ms. The first 60 s do not count. The presets know nothing of Sprout: they are fitted to statistics of the links
(`cellular_fit.py`).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dumbbell
from dumbbell import core
from dumbbell.core.logs import series
from dumbbell.core.paths import opportunities
from dumbbell.core.runs import simulate
from dumbbell.present.tables import Table, markdown

SKIPPED_S = 60.0
ONE_WAY_S = 0.02
# The program before Pantheon's patch: 18 bytes of its header and 28 of IP and UDP around 1440 bytes.
PAYLOAD_BYTES, HEADER_BYTES, IP_UDP_BYTES = 1440, 46, 28

# Rates in kbit/s and self-inflicted delays in ms of the paper, and of an independent implementation over the recordings
# that the presets are fitted to; then its share of the trace in percent. The traces are the paper's, except for
# Verizon's LTE, of which only excerpts of 140 s exist.
PUBLISHED = {
    "cellular-verizon-lte-down": (4741, 73, 2875, 45, 55),
    "cellular-verizon-lte-up": (3703, 332, 3139, 78, 52),
    "cellular-att-lte-down": (2304, 52, 2487, 47, 48),
    "cellular-att-lte-up": (412, 127, 390, 86, 42),
    "cellular-tmobile-umts-down": (680, 331, 650, 150, 31),
    "cellular-tmobile-umts-up": (370, 136, 325, 79, 34),
    "cellular-verizon-evdo-down": (209, 1287, 190, 748, 35),
    "cellular-verizon-evdo-up": (239, 199, 213, 72, 25),
}


def specification(preset: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return a run spec of Sprout alone, as the paper measured it: its receiver loads the other direction."""
    scheme = dumbbell.schemes().find("sprout")
    return {
        "seed": seed,
        "duration_s": seconds,
        "log": "packets",
        "path": dumbbell.paths().find(preset).spec(),
        "flows": [
            {
                "scheme": "sprout",
                "controller": "sprout",
                "parameters": {"feedback_only": "false"},
                "transport": {**scheme.transport, "payload_bytes": PAYLOAD_BYTES, "header_bytes": HEADER_BYTES},
            }
        ],
    }


def age_p95_ms(arrival_times: NDArray[np.float64], send_times: NDArray[np.float64], until: float) -> float:
    """Return the 95th percentile over time, in steps of 1 ms, of the age of the newest arrived packet."""
    newest = np.maximum.accumulate(send_times)
    clock = np.arange(SKIPPED_S, until, 1e-3)
    last = np.searchsorted(arrival_times, clock, side="right") - 1
    return float(np.percentile((clock - newest[last])[last >= 0], 95) * 1e3)


def run(task: tuple[str, int, float]) -> tuple[float, float, float, float]:
    """Return throughput in kbit/s, age and omniscient age in ms, and the rate of the link in kbit/s."""
    preset, seed, seconds = task
    spec = specification(preset, seed, seconds)
    with tempfile.TemporaryDirectory() as folder:
        simulate(spec, Path(folder))
        _, times, delays = core.delay_points(str(Path(folder) / "packets.parquet"), "data", 1 << 30)
        points = series(str(Path(folder) / "packets.parquet"), 1.0)
    arrival_times, delay = np.frombuffer(times), np.frombuffer(delays) / 1e3
    rates = points["flows"][0]["egress_mbps"]
    # Egress counts IP and UDP headers; sizes differ, so the headers are subtracted packet by packet.
    is_counted = arrival_times >= SKIPPED_S
    bits = 1e6 * sum(rates[int(SKIPPED_S) :]) - 8 * IP_UDP_BYTES * int(is_counted.sum())
    opportunity_times = np.array(opportunities(spec["path"], "data", seed, seconds)) / 1e9
    omniscient = age_p95_ms(opportunity_times, opportunity_times - ONE_WAY_S, seconds)
    kbits = 1e3 * (seconds - SKIPPED_S)
    return (
        bits / kbits,
        age_p95_ms(arrival_times, arrival_times - delay, seconds),
        omniscient,
        int((opportunity_times >= SKIPPED_S).sum()) * 12e3 / kbits,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1060.0)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    seeds = range(1, arguments.runs + 1)
    head = ["link", "kbit/s", "paper", "over the trace", "% of the link", "over the trace"]
    print(markdown.render(Table.of([*head, "self-inflicted ms", "paper", "over the trace"], [])))
    with ProcessPoolExecutor() as pool:
        for preset, (paper, paper_ms, trace, trace_ms, share) in PUBLISHED.items():
            results = list(pool.map(run, [(preset, seed, arguments.seconds) for seed in seeds]))
            rate, age, least, offered_rate = (statistics.mean(column) for column in zip(*results, strict=True))
            beside = [f"{rate:.0f}", f"{paper} ({rate / paper:.2f})", f"{trace} ({rate / trace:.2f})"]
            cells = [*beside, f"{100.0 * rate / offered_rate:.0f}", share, f"{age - least:.0f}", paper_ms, trace_ms]
            print(markdown.line([f"`{preset}`", *cells]), flush=True)


if __name__ == "__main__":
    main()
