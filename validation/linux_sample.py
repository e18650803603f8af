"""Comparison of the running kernel's CUBIC and BBR over cells of `linux-grid` with the published figures.

Usage: python -m validation.linux_sample results/linux-grid-real [--write docs/evidence/papers/linux-grid.md].
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block
from validation.fidelity.checks.r11_linux_grid import measure, published_percents
from validation.fidelity.measured import Runs


def table(directory: Path) -> str:
    """Return the cells in which the machine kept up, with the difference in points of utilisation."""
    own_percents, linux_percents = measure(Runs.of(directory)), published_percents()
    shared_keys = [key for key in linux_percents if key in own_percents]
    head = ["controller", "buffer kB", "Mbit/s", "RTT ms", "published %", "here %", "points"]
    rows = [
        [
            *key,
            f"{linux_percents[key]:.1f}",
            f"{own_percents[key]:.1f}",
            f"{own_percents[key] - linux_percents[key]:+.1f}",
        ]
        for key in shared_keys
    ]
    errors = [abs(own_percents[key] - linux_percents[key]) for key in shared_keys]
    kernel = dumbbell.open(directory).environment["kernel"]
    summary = (
        f"{kernel}: {len(shared_keys)} runs of 60 s, the median {statistics.median(errors):.1f} points off, "
        f"the largest {max(errors):.1f}."
    )
    return f"{summary}\n\n{markdown.render(Table.of(head, rows))}"


def main() -> None:
    """Print the table or put it into the page."""
    parser = argparse.ArgumentParser(description="The running kernel over cells of linux-grid.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    text = table(args.directory)
    if args.write:
        replace_block(args.write, "linux-grid-real", text)
    print(text)


if __name__ == "__main__":
    main()
