"""Runs of the staircase experiments, for the checks of Copa's fairness study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from validation.fidelity.measured import Runs, value

QUICK = ("--set", "log=none")
SCHEMES = ("copa-gcc2018", "cubic", "bbr", "pcc")
FAST = ("--schemes", "copa-gcc2018,cubic,bbr,pcc,reno", *QUICK)
"""What `copa-fairness` is run with for all of them."""
QUEUES = {"plain": "ideal-46", "shared": "mininet-46"}
"""Paths by their queue: 77 packets, or a limit of 77 that the delay line shares, as Mininet builds it."""
JAIN = "jain_seen_p50"
"""Median of Jain's index in windows of 0.1 s."""


def values(directory: Path, count: int, metric: str = JAIN) -> list[Mapping[tuple[str, str], float]]:
    """Return a metric of each repetition, by queue and scheme."""
    queues = {path: queue for queue, path in QUEUES.items()}
    return [
        {
            (queues[run["path"].partition(".")[0]], run["scheme"]): value(run, f"network.{metric}")
            for run in repetition.runs
        }
        for repetition in Runs.of(directory).repetitions(count)
    ]
