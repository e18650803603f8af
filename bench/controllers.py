"""Cost of every built-in scheme's controller: ns per ACK; for receiver-side halves ns per packet and feedback.

Learned ones decide seldom: see inference.py.

Usage: python -m bench.controllers [--write docs/develop/speed.md] [--runner FILE] [SCHEME...]. The measuring is done
by `crates/cost/examples/controller_cost.rs`; `--runner` is that program if it is built already. With `--write` the
table takes its place in the document. Exit status 1 if a controller costs more than it may.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.present.tables import Table, markdown
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

ROOT = Path(__file__).resolve().parent.parent
BOUND_NS = 1000.0  # per ACK, or per packet where an ACK is a report about many
REPORT_PACKETS = 5.0  # from here on it is
TICKS = {"sprout": (0.020, 0.01)}  # controllers whose work is done by a clock: its period in s, the share it may use
FILES = ("weights", "table")  # parameters that name files
LEARNED = ("aurora", "astraea", "indigo", "muses")  # what needs a network of the user's where none is shipped

Figures = dict[str, Any]


def flow_of_scheme(scheme: Any) -> dict[str, Any]:  # noqa: ANN401 (a scheme of the catalog)
    """Return a scheme's flow in the form of a run spec, with the scheme's own application."""
    named_names = [name for name in FILES if name in scheme.parameters]
    files = {name: str((Path(scheme.folder) / scheme.parameters[name]).resolve()) for name in named_names}
    return {
        "scheme": scheme.name,
        "controller": scheme.controller,
        "parameters": scheme.parameters | files,
        "transport": scheme.transport,
        "application": scheme.application,
    }


def learned_flows() -> list[dict[str, Any]]:
    """Return the flows of the schemes that come with a network."""
    return [flow_of_scheme(scheme) for scheme in dumbbell.schemes() if "weights" in scheme.parameters]


def flows(names: list[str]) -> list[dict[str, Any]]:
    """Return the flows of the built-in schemes (those of `names`, if any) that have no network."""
    unlearned_schemes = [
        scheme
        for scheme in dumbbell.schemes()
        if scheme.kind == "core" and scheme.controller not in LEARNED and "weights" not in scheme.parameters
    ]
    return [flow_of_scheme(scheme) for scheme in unlearned_schemes if not names or scheme.name in names]


def build() -> Path:
    """Build the program that measures; return its path."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "cost", "--example", "controller_cost"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "examples" / "controller_cost"


def measure(runner: Path, chosen_flows: list[dict[str, Any]]) -> list[Figures]:
    """Measure every flow; return the figures."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "flows.json"
        file.write_text(json.dumps(chosen_flows))
        result = subprocess.run([str(runner), str(file)], check=False, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"{runner} failed with status {result.returncode}")
    figures: list[Figures] = json.loads(result.stdout)
    return figures


def tick_ns(figures: Figures) -> float:
    """Return the cost of one tick of a controller's own clock, ns, if all of its work is done there."""
    ticks = figures["duration_s"] / TICKS[figures["controller"]][0]
    return float(figures["ns_per_ack"] * figures["acks"] / ticks)


def is_cheap(figures: Figures) -> bool:
    """Return True if a controller is within its bound."""
    if figures["controller"] in TICKS:
        period_s, share = TICKS[figures["controller"]]
        return tick_ns(figures) <= share * period_s * 1e9
    is_report = figures["packets"] >= REPORT_PACKETS * figures["acks"]
    return float(figures["ns_per_packet"] if is_report else figures["ns_per_ack"]) <= BOUND_NS


def row(figures: Figures) -> list[str]:
    """Return a row of the table."""
    half = figures["half"]
    name = figures["scheme"] + ("" if is_cheap(figures) else " (**above its bound**)")
    if figures["controller"] in TICKS:
        name += f", {tick_ns(figures) / 1e3:.0f} us per tick"
    return [
        name,
        f"{figures['throughput_mbps']:.1f}",
        f"{figures['packets'] / figures['acks']:.1f}",
        f"{figures['ns_per_ack']:.0f}",
        f"{figures['ns_per_packet']:.0f}",
        f"{half['ns_per_packet']:.0f}" if half else "",
        f"{half['ns_per_feedback']:.0f}" if half else "",
    ]


TEXT = """`python -m bench.controllers` (part of `make bench`), {date}, {cpu}: every built-in scheme
runs for {seconds:g} s over 100 Mbit/s, 40 ms and one bandwidth-delay product of queue with 0.01 % of random loss. All
calls that its controller got (ACKs, losses, packets sent, timers, and the questions for what is allowed) are then made
again on fresh instances; the figures are the fastest of 20 repetitions, less what making the calls costs by itself
({replay:.0f} ns per ACK). Bound: 1 us per ACK, or per packet where an ACK is a report about many. Sprout works when its
clock ticks, every 20 ms at both ends, not when ACKs come; its bound is 1 % of a tick.

{table}"""


def text(figures: list[Figures]) -> str:
    """Return the section of the document."""
    titles = ["scheme", "Mbit/s", "packets per ACK", "ns per ACK", "ns per packet sent"]
    titles += ["receiver's half: ns per packet", "ns per feedback"]
    table = markdown.render(Table.of(titles, map(row, figures), "lrrrrrr"))
    cpu = environment([])["cpu"]
    replay = statistics.median(figure["replay_ns_per_ack"] for figure in figures)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    return TEXT.format(date=date, cpu=cpu, seconds=figures[0]["duration_s"], replay=replay, table=table)


def main() -> None:
    """Measure everything and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("schemes", nargs="*", help="only these")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--runner", type=Path)
    options = parser.parse_args()
    if options.write and options.schemes:
        parser.error("--write is for the table of all schemes")
    figures = measure(options.runner or build(), flows(options.schemes))
    section = text(figures)
    if options.write:
        replace_block(options.write, "controllers", section)
    print(section)
    expensive = [figure["scheme"] for figure in figures if not is_cheap(figure)]
    if expensive:
        sys.exit(f"above the bound: {', '.join(expensive)}")


if __name__ == "__main__":
    main()
