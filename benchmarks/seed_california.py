"""Pantheon's report of January 2018 beside ours, and how long three runs of every scheme take.

Usage: python benchmarks/seed_california.py. Runs the experiment `seed-california` and writes its tables into
docs/seed-california.md; then runs every built-in scheme 3 x 30 s on the smooth path of that experiment, each by a
command of its own, and writes the wall-clock times into docs/benchmarks.md. Takes about two minutes. Exit status 1 if
a run fails or a scheme takes more than a minute.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from blocks import replace_block

from dumbbell import catalog
from dumbbell.results.environment import cpus, environment

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "seed-california.md"
SPEED_PAGE = ROOT / "docs" / "benchmarks.md"
EXPERIMENT = "seed-california"
SPEED_PATH = "seed-smooth"
ALLOWED_S = 60.0

METRICS = (("throughput_mbps", 1.0, 2), ("delay_p95_ms", 1.0, 1), ("loss_rate", 100.0, 2))
HEADINGS = ("Mbit/s", "p95 ms", "loss %")


def run(*arguments: str) -> dict[str, Any]:
    """What `dumbbell run --json` prints; ends the script if a run is not good."""
    command = [sys.executable, "-m", "dumbbell", "run", EXPERIMENT, *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"seed_california: {' '.join(command)}:\n{done.stderr.strip()}")
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def field(figure: dict[str, float | None] | None, factor: float, digits: int) -> str:
    """A mean, with the smallest and the largest run."""
    if figure is None or figure["mean"] is None:
        return "-"
    low, high = figure["low"], figure["high"]
    text = f"{figure['mean'] * factor:.{digits}f}"
    return text if low is None or high is None else f"{text} [{low * factor:.{digits}f}, {high * factor:.{digits}f}]"


def beside(content: dict[str, Any]) -> str:
    """A table for each path."""
    parts = []
    experiment = content["experiment"]
    for path in experiment["paths"]:
        head = [f"{heading} {side}" for heading in HEADINGS for side in ("ours", "published")]
        lines = [f"| scheme | {' | '.join(head)} |", "|---" * (1 + len(head)) + "|"]
        for row in content["published"]["rows"]:
            if row["path"] != path:
                continue
            name = f"`{row['scheme']}` ({row['title']})" if row["scheme"] else row["title"]
            figures = [
                field(row[side][metric], factor, digits)
                for metric, factor, digits in METRICS
                for side in ("ours", "published")
            ]
            lines.append(f"| {name} | {' | '.join(figures)} |")
        title = experiment["path"][path]["title"]
        parts.append(f"### {path}: {title}\n\n" + "\n".join(lines))
    made = f"`python benchmarks/seed_california.py`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}."
    return "\n\n".join([f"Written by {made} Published: {content['published']['source']}.", *parts])


def speeds(scratch: Path) -> list[tuple[str, float]]:
    """Wall-clock seconds of the whole command for every built-in scheme, and for all of them together."""
    names = [scheme.name for scheme in catalog.schemes() if scheme.kind == "core"]
    found = []
    for schemes in [*names, ",".join(names)]:
        start = time.perf_counter()
        run("--schemes", schemes, "--path", SPEED_PATH, "--out", str(scratch / f"speed-{len(found)}"))
        found.append((schemes if "," not in schemes else "all in one command", time.perf_counter() - start))
        print(f"{found[-1][0]}: {found[-1][1]:.2f} s", file=sys.stderr)
    return found


def speed_table(found: list[tuple[str, float]]) -> str:
    """The times in Markdown."""
    machine = environment([])
    slowest = max(found[:-1], key=lambda one: one[1])
    lines = [
        f"`python benchmarks/seed_california.py`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {machine['cpu']}, "
        f"{cpus()} processors: wall-clock time of",
        f"`dumbbell run {EXPERIMENT} --schemes NAME --path {SPEED_PATH}`: three runs of 30 s with packet logs and time",
        "series, start of the command included, with whatever else the machine had to do. Allowed are "
        f"{ALLOWED_S:g} s per scheme; the slowest is `{slowest[0]}` with {slowest[1]:.1f} s.",
        "",
        "| scheme | s |",
        "|---|---|",
        *(f"| {name} | {seconds:.2f} |" for name, seconds in found),
    ]
    return "\n".join(lines)


def main() -> None:
    """Run everything and write both blocks."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        replace_block(PAGE, "seed-california", beside(run("--out", str(scratch / "beside"))))
        found = speeds(scratch)
    replace_block(SPEED_PAGE, "seed-california", speed_table(found))
    slow = [f"{scheme} ({seconds:.1f} s)" for scheme, seconds in found[:-1] if seconds > ALLOWED_S]
    if slow:
        sys.exit(f"seed_california: more than {ALLOWED_S:g} s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
