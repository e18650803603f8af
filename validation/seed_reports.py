"""Comparison with two of Pantheon's reports of 2018 and two figures of its paper, and times of all schemes.

Usage: python -m validation.seed_reports [--tables]. Runs the experiments of `PAGES` and
writes their tables into those pages; where LEARNED_WEIGHTS names a folder with the files that the learned schemes ran
with, those too. Then runs every built-in scheme 3 x 30 s on the smooth path of the first, each by a command of its own,
and writes the wall-clock times into docs/develop/speed.md, but for `--tables`. Takes about three minutes. Exit status 1
if a run fails or a scheme takes more than a minute.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.machine.description import cpus
from dumbbell.present.plots import ReplicationPoint, replication_figure, styles
from dumbbell.present.plots.parts.svg import for_print
from dumbbell.present.plots.parts.typeset import figure_as
from dumbbell.present.tables import Table, markdown
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SPEED_PAGE = DOCS / "develop" / "speed.md"
EXPERIMENT = "seed-california"
PAPER_PAGE = DOCS / "evidence" / "papers" / "pantheon.md"
PAGES = {
    EXPERIMENT: DOCS / "evidence" / "seed-california.md",
    "seed-brazil": DOCS / "evidence" / "seed-brazil.md",
    "replication-nepal": PAPER_PAGE,
    "replication-mexico": PAPER_PAGE,
}
SPEED_PATH = "seed-smooth"
ALLOWED_S = 60.0
RUNS = "10"
"""Number of simulated runs per published mean of three: three runs do not show schemes that sometimes leave a path."""

METRICS = (("throughput_mbps", 1.0, 2), ("delay_p95_ms", 1.0, 1), ("loss_rate", 100.0, 2))
HEADINGS = ("Mbit/s", "p95 ms", "loss %")


@dataclass(frozen=True)
class Original:
    """A scheme with the file that a report's runs had, if LEARNED_WEIGHTS names a folder with this file."""

    title: str
    scheme: str
    parameter: str
    file: str
    changes: tuple[str, ...] = ()


ORIGINALS = {
    EXPERIMENT: (
        Original("TaoVA-100x", "tao-gcc2017", "table", "remy/RemyCC-2014-100x.dna"),
        Original("Indigo", "indigo", "weights", "indigo/indigo-2x256-sep2017.data"),
    ),
    "seed-brazil": (
        Original("Muses-25", "muses", "weights", "indigo/muses-25.data", ("muses.transport.payload_bytes=2764",)),
        Original("Muses-25", "muses", "weights", "indigo/muses-25.data"),
    ),
}


def run(experiment: str, *arguments: str) -> dict[str, Any]:
    """Return the content of `dumbbell run --json`; end the script if a run is not good."""
    command = [sys.executable, "-m", "dumbbell", "run", experiment, *arguments, "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"seed_reports: {' '.join(command)}:\n{result.stderr.strip()}")
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def field(figure: dict[str, float | None] | None, factor: float, digits: int) -> str:
    """Return a mean, with the smallest and the largest run."""
    if figure is None or figure["mean"] is None:
        return "-"
    low, high = figure["low"], figure["high"]
    text = f"{figure['mean'] * factor:.{digits}f}"
    return text if low is None or high is None else f"{text} [{low * factor:.{digits}f}, {high * factor:.{digits}f}]"


def error_field(metric: str, error: float | None) -> str:
    """Return a relative error in percent; that of a loss rate in points."""
    if error is None:
        return "-"
    return f"{error * 100:+.2f}" if metric == "loss_rate" else f"{error * 100:+.0f} %"


def replication(error: dict[str, Any]) -> str:
    """Return Pantheon's replication error in a sentence."""
    parts = f"throughput {error['throughput'] * 100:.1f} %, delay {error['delay'] * 100:.1f} %"
    return f"Replication error: {error['error'] * 100:.1f} % ({parts}) over {len(error['schemes'])} schemes."


def beside(content: dict[str, Any]) -> str:
    """Return a table for each path."""
    parts = []
    experiment = content["experiment"]
    errors = {entry["path"]: entry for entry in content["published"]["replication"]}
    for path in experiment["paths"]:
        head = [f"{heading} {side}" for heading in HEADINGS for side in ("ours", "published", "error")]
        rows = []
        for row in content["published"]["rows"]:
            if row["path"] != path:
                continue
            name = f"`{row['scheme']}` ({row['title']})" if row["scheme"] else row["title"]
            name += f", not counted: {row['uncounted']}" * bool(row["uncounted"])
            figures = []
            for metric, factor, digits in METRICS:
                sides = [field(row[side][metric], factor, digits) for side in ("ours", "published")]
                figures += [*sides, error_field(metric, row["error"][metric])]
            rows.append([name, *figures])
        title = experiment["path"][path]["title"]
        table = markdown.render(Table.of(["scheme", *head], rows))
        parts.append(f"### {path}: {title}\n\n{table}\n\n{replication(errors[path])}")
    return "\n\n".join([f"{origin()} Published: {content['published']['source']}.", *parts])


def draw(content: dict[str, Any]) -> None:
    """Draw the published and the simulated points of every path that counts, into `docs/images/`."""
    for path_entry in content["published"]["replication"]:
        path = path_entry["path"]
        rows = [
            row
            for row in content["published"]["rows"]
            if row["path"] == path and row["scheme"] in path_entry["schemes"]
        ]
        scheme_of = {scheme.name: scheme for scheme in dumbbell.schemes()}
        looks = styles((row["scheme"], scheme_of[row["scheme"]].color, scheme_of[row["scheme"]].marker) for row in rows)
        points = [
            ReplicationPoint(row["title"], looks[row["scheme"]], point(row["published"]), point(row["ours"]))
            for row in rows
        ]
        title = f"{content['experiment']['path'][path]['title']}: {path_entry['error']:.1%} off"
        drawing = for_print(replication_figure("calibration", title, points))
        (DOCS / "images" / f"replication-{path}.png").write_bytes(figure_as("png", drawing))


def point(side: dict[str, Any]) -> tuple[float, float]:
    """Return delay (ms) and throughput (Mbit/s) of one side of a row."""
    return side["delay_p95_ms"]["mean"], side["throughput_mbps"]["mean"]


def origin() -> str:
    """Return the command and the date of a table."""
    return f"Written by `python -m validation.seed_reports`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}."


def originals(experiment: str, folder: Path, scratch: Path) -> str:
    """Return a table of the schemes with their own files, on every path of the experiment."""
    head = [f"{heading} {side}" for heading in HEADINGS for side in ("ours", "published")]
    rows = []
    for number, original in enumerate(ORIGINALS[experiment]):
        sets = [f"{original.scheme}.{original.parameter}={folder / original.file}", *original.changes]
        settings = [word for setting in sets for word in ("--set", setting)]
        out = str(scratch / f"original-{number}")
        content = run(experiment, "--schemes", original.scheme, *settings, "--runs", RUNS, "--out", out)
        published_values = {row["title"]: row["published"] for row in content["published"]["rows"]}[original.title]
        for path in content["experiment"]["paths"]:
            networks = [made_run["network"] for made_run in content["runs"] if made_run["path"] == path]
            cells = []
            for metric, factor, digits in METRICS:
                values = [values_of_run[metric] for values_of_run in networks]
                own_range = {"mean": sum(values) / len(values), "low": min(values), "high": max(values)}
                cells += [field(side, factor, digits) for side in (own_range, published_values[metric])]
            change_text = "".join(f", `{change}`" for change in original.changes)
            name = f"`{original.scheme}`, {Path(original.file).name}{change_text}"
            rows.append([name, path, *cells])
    return f"{origin()}\n\n{markdown.render(Table.of(['scheme', 'path', *head], rows))}"


def speeds(scratch: Path) -> list[tuple[str, float]]:
    """Return the wall-clock time of the whole command for every built-in scheme, and for all of them together, s."""
    names = [scheme.name for scheme in dumbbell.schemes() if scheme.kind == "core"]
    times = []
    for schemes in [*names, ",".join(names)]:
        start = time.perf_counter()
        options = ("--schemes", schemes, "--path", SPEED_PATH, "--runs", "3")
        run(EXPERIMENT, *options, "--out", str(scratch / f"speed-{len(times)}"))
        times.append((schemes if "," not in schemes else "all in one command", time.perf_counter() - start))
        print(f"{times[-1][0]}: {times[-1][1]:.2f} s", file=sys.stderr)
    return times


def speed_table(times: list[tuple[str, float]]) -> str:
    """Return the times in Markdown."""
    machine = environment([])
    slowest = max(times[:-1], key=lambda entry: entry[1])
    lines = [
        f"`python -m validation.seed_reports`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, {machine['cpu']}, "
        f"{cpus()} processors: wall-clock time of",
        f"`dumbbell run {EXPERIMENT} --schemes NAME --path {SPEED_PATH} --runs 3`: three runs of 30 s with packet logs",
        "and time series, start of the command included, with whatever else the machine had to do. Allowed are "
        f"{ALLOWED_S:g} s per scheme; the slowest is `{slowest[0]}` with {slowest[1]:.1f} s.",
        "",
        markdown.render(Table.of(["scheme", "s"], [(name, f"{seconds:.2f}") for name, seconds in times])),
    ]
    return "\n".join(lines)


def main() -> None:
    """Run everything and write all blocks."""
    parser = argparse.ArgumentParser(description="Pantheon's published numbers beside ours.")
    parser.add_argument("--tables", action="store_true", help="leave the wall-clock times alone")
    only_tables = parser.parse_args().tables
    weights = os.environ.get("LEARNED_WEIGHTS")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for experiment, page in PAGES.items():
            content = run(experiment, "--runs", RUNS, "--out", str(scratch / experiment))
            replace_block(page, experiment, beside(content))
            draw(content)
            if experiment not in ORIGINALS:
                continue
            if weights:
                (scratch / f"{experiment}-originals").mkdir()
                text = originals(experiment, Path(weights), scratch / f"{experiment}-originals")
                replace_block(page, "originals", text)
            else:
                print("seed_reports: LEARNED_WEIGHTS is not set: the originals' tables stay", file=sys.stderr)
        if only_tables:
            return
        times = speeds(scratch)
    replace_block(SPEED_PAGE, "seed-california", speed_table(times))
    slow = [f"{scheme} ({seconds:.1f} s)" for scheme, seconds in times[:-1] if seconds > ALLOWED_S]
    if slow:
        sys.exit(f"seed_reports: more than {ALLOWED_S:g} s: {', '.join(slow)}")


if __name__ == "__main__":
    main()
