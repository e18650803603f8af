"""Runs of the staircase experiments, for the checks of Copa's fairness study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from validation.fidelity.measured import Runs, value

QUICK = ("--set", "log=none")
SCHEMES = ("copa-gcc2018", "cubic", "bbr", "pcc")
LINUX = "-linux"
"""Ending of a built-in scheme's name if the publication used the kernel's scheme."""
MEASURED = ("copa-gcc2018", f"cubic{LINUX}", "bbr", "pcc")
"""Built-in schemes that stand for the published ones: the program, and Linux's CUBIC."""
FAST = ("--schemes", ",".join((*MEASURED, "reno")), *QUICK)
"""Options of `copa-fairness` for all of these schemes."""
QUEUES = {"plain": "ideal-46", "shared": "mininet-46"}
"""Paths by their queue: 77 packets, or a limit of 77 shared with the delay line, as Mininet builds it."""
JAIN = "jain_seen_p50"
"""Median of Jain's index in windows of 0.1 s."""


def values(
    directory: Path, count: int, metric: str = JAIN, paths: Mapping[str, str] = QUEUES
) -> list[Mapping[tuple[str, str], float]]:
    """Return a metric of each repetition, by queue and scheme."""
    queues = {path: queue for queue, path in paths.items()}
    return [
        {
            (queues[run["path"].partition(".")[0]], run["scheme"].removesuffix(LINUX)): value(run, f"network.{metric}")
            for run in repetition.runs
        }
        for repetition in Runs.of(directory).repetitions(count)
    ]
