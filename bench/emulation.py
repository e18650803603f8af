"""Real packets: how punctual the emulator is, how much it carries, and what our own ends of flows add.

Usage: python -m bench.emulation [--seconds S] [--repeats N] [--json FILE]. Needs what emulation needs
(`dumbbell doctor`); everything is measured in one run, so compare the rows with each other. A rate counts as held if
the flow gets 98 % of what the link can give it and less than 0.1 % of the packets are lost outside of the path.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
from pathlib import Path
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.core.runs import emulate
from dumbbell.machine.emulation import require_emulation
from dumbbell.studies.capacity import PAYLOAD_SHARE, one_flow

DELAY_MS = 5.0
HELD_SHARE = 0.98
UNPLANNED_LOSS = 0.001

Figures = dict[str, Any]


def flow(scheme: str) -> dict[str, Any]:
    """A flow of the kernel (`kernel-NAME`) or of our transport over UDP, one ACK per packet."""
    if scheme.startswith("kernel-"):
        sender = {"kernel": {"congestion_control": scheme.removeprefix("kernel-")}}
    else:
        sender = {"controller": scheme, "transport": {"profile": "tcp", "ack_every": 1}}
    return {"scheme": scheme, **sender, "loss_based": scheme.endswith("cubic")}


def measure(scheme: str, rate_mbps: float | None, delay_ms: float, seconds: float) -> Figures:
    """One run: share of the link's payload rate, lateness, unplanned loss, CPU time per packet."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    report = emulate(one_flow(flow(scheme), rate_mbps, delay_ms, seconds))
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    measured, emulation = report["flows"][0], report["emulation"]
    goodput = measured["goodput_mbps"]
    share = goodput / (rate_mbps * PAYLOAD_SHARE) if rate_mbps is not None else None
    unplanned = (emulation["tx_dropped"] + emulation["socket_dropped"]) / max(measured["packets_sent"], 1)
    return {
        "scheme": scheme,
        "rate_mbps": rate_mbps,
        "goodput_mbps": goodput,
        "share": share,
        "lateness_us": emulation["lateness_us"],
        "unplanned_loss": unplanned,
        "cpu_us_per_packet": cpu_s / max(measured["packets_sent"], 1) * 1e6,
        "held": share is not None and share >= HELD_SHARE and unplanned < UNPLANNED_LOSS,
    }


def median_of(runs: list[Figures]) -> Figures:
    """The run whose goodput is the median; its other figures belong to it."""
    return sorted(runs, key=lambda run: float(run["goodput_mbps"]))[len(runs) // 2]


def show(figures: Figures) -> str:
    """One line."""
    late = figures["lateness_us"]
    rate = "no link" if figures["rate_mbps"] is None else f"{figures['rate_mbps']:g} Mbit/s"
    share = "" if figures["share"] is None else f" = {figures['share'] * 100:.2f} % of the payload rate"
    return (
        f"{figures['scheme']:<14} {rate:>13}: {figures['goodput_mbps']:8.2f} Mbit/s of payload{share}; late "
        f"{late['p50']} us (median), {late['p90']} (p90), {late['p99']} (p99), {late['max']} (max); unplanned loss "
        f"{figures['unplanned_loss'] * 100:.3f} %; {figures['cpu_us_per_packet']:.1f} us of CPU per packet"
        f"{'' if figures['held'] or figures['share'] is None else '; NOT HELD'}"
    )


def several(scheme: str, rate_mbps: float | None, delay_ms: float, arguments: argparse.Namespace) -> Figures:
    """The median of several runs, shown."""
    runs = [measure(scheme, rate_mbps, delay_ms, arguments.seconds) for _ in range(arguments.repeats)]
    figures = median_of(runs) | {
        "p99_of_runs_us": [run["lateness_us"]["p99"] for run in runs],
        "p50_of_runs_us": statistics.median(run["lateness_us"]["p50"] for run in runs),
    }
    print(show(figures), flush=True)
    return figures


def main() -> int:
    """Measures everything and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=9.0, help="length of each run; a third of it is warm-up")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    try:
        require_emulation()
    except UserError as error:
        print(f"emulation.py: {error}", file=sys.stderr)
        return 2
    print("Punctuality: 20 ms each way")
    figures = [several("kernel-cubic", rate, 20.0, arguments) for rate in (12.0, 100.0)]
    print("\nCapacity, kernel TCP: 5 ms each way")
    figures += [several("kernel-cubic", rate, DELAY_MS, arguments) for rate in (500, 1000, 1500, 2000, 2500, 3000)]
    figures.append(several("kernel-cubic", None, 0.0, arguments))
    print("\nCapacity, our ends over UDP, one ACK per packet: 5 ms each way")
    figures += [
        several(scheme, rate, DELAY_MS, arguments) for scheme in ("cubic", "bbr") for rate in (100, 300, 500, 700, 1000)
    ]
    for kind in ("kernel-cubic", "cubic", "bbr"):
        held = [row["rate_mbps"] for row in figures if row["scheme"] == kind and row["held"]]
        print(f"\nhighest rate held, {kind}: {max(held, default=0):g} Mbit/s", end="")
    print()
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
