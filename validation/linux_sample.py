"""The running kernel's CUBIC and BBR over cells of `linux-grid`, beside the published figures.

Usage: python -m validation.linux_sample results/linux-grid-real [--write docs/evidence/papers/linux-grid.md].
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block
from validation.fidelity.checks.r11_linux_grid import measured, published
from validation.fidelity.measured import Runs


def table(directory: Path) -> str:
    """The cells in which the machine kept up, with the difference in points of utilisation."""
    ours, theirs = measured(Runs.of(directory)), published()
    shared = [key for key in theirs if key in ours]
    head = ["controller", "buffer kB", "Mbit/s", "RTT ms", "published %", "here %", "points"]
    rows = [[*key, f"{theirs[key]:.1f}", f"{ours[key]:.1f}", f"{ours[key] - theirs[key]:+.1f}"] for key in shared]
    errors = [abs(ours[key] - theirs[key]) for key in shared]
    kernel = dumbbell.open(directory).environment["kernel"]
    summary = (
        f"{kernel}: {len(shared)} runs of 60 s, the median {statistics.median(errors):.1f} points off, "
        f"the largest {max(errors):.1f}."
    )
    return f"{summary}\n\n{markdown.render(Table.of(head, rows))}"


def main() -> None:
    """Prints the table or puts it into the page."""
    parser = argparse.ArgumentParser(description="The running kernel over cells of linux-grid.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    text = table(given.directory)
    if given.write:
        replace_block(given.write, "linux-grid-real", text)
    print(text)


if __name__ == "__main__":
    main()
