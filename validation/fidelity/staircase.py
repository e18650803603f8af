"""Medians of the staircase experiments, for the checks of Copa's fairness study."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

import dumbbell

QUICK = ("--set", "log=none")
FAST = ("--schemes", "copa-gcc2018,cubic,bbr,pcc,reno", "--runs", "20", *QUICK)
"""What `copa-fairness` is run with for all of them: single runs differ."""
PAPER, REPRODUCTION, REPRODUCTION_5S = "Copa paper", "reproduction, 1 s", "reproduction, 5 s"
PUBLISHED = {
    "copa-gcc2018": {PAPER: 0.93, REPRODUCTION: 0.97, REPRODUCTION_5S: 0.98},
    "cubic": {PAPER: 0.90, REPRODUCTION: 0.88, REPRODUCTION_5S: 0.90},
    "bbr": {PAPER: 0.73, REPRODUCTION: 0.61, REPRODUCTION_5S: 0.81},
    "pcc": {PAPER: 0.60, REPRODUCTION: 0.81, REPRODUCTION_5S: 0.94},
}
"""Medians of Jain's index in windows of 0.1 s."""
REAL = {"cubic": "kernel-cubic", "bbr": "kernel-bbr"}


@dataclass(frozen=True)
class Medians:
    """A metric of the runs of one scheme on one path."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the runs."""
        return statistics.mean(self.values)

    def __str__(self) -> str:
        if len(self.values) < 2:
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} ({min(self.values):.2f} to {max(self.values):.2f})"


def medians(directory: Path, metric: str = "jain_seen_p50") -> dict[tuple[str, str], Medians]:
    """By path (up to the first dot) and scheme, of the runs that can be judged."""
    found: dict[tuple[str, str], list[float]] = {}
    for run in (each.statistics for each in dumbbell.open(directory).runs):
        value = (run.get("network") or {}).get(metric)
        if run["status"] == "done" and value is not None:
            found.setdefault((run["path"].partition(".")[0], run["scheme"]), []).append(value)
    return {key: Medians(tuple(values)) for key, values in found.items()}
