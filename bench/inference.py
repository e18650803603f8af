"""Cost of a decision of every learned scheme on one core: its observation, its network and its action.

Usage: python -m bench.inference [--write docs/develop/speed.md] [--runner FILE] [--weights SCHEME=FILE...]. The
measuring is done by `crates/cost/examples/controller_cost.rs`; `--runner` is that program if it is built already.
`--weights` measures a scheme with a file of yours besides. Exit status 1 if a decision of a shipped network takes
longer than it may.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from bench.controllers import build, learned_flows, measure
from dumbbell.present.tables import Table, markdown
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

BOUND_US = 20.0
UNSHIPPED = {"aurora": 24_736, "astraea": 1_364_512}
"""Schemes without built-in networks, with the length of the published file, bytes; here it has made-up numbers."""

Figures = dict[str, Any]


def flow(name: str, weights: Path, title: str) -> Figures:
    """Return the flow of the scheme called `name` with this file, in the form of a run spec."""
    scheme = next(candidate for candidate in dumbbell.schemes() if candidate.name == name)
    return {
        "scheme": title,
        "controller": scheme.controller,
        "parameters": {**scheme.parameters, "weights": str(weights)},
        "transport": scheme.transport,
        "application": scheme.application,
    }


def made_up(folder: Path) -> list[Figures]:
    """Return the flows of the schemes without built-in networks. Made-up numbers do not change the cost of a step."""
    draws = np.random.default_rng(1)
    flows = []
    for name, length in UNSHIPPED.items():
        file = folder / name
        file.write_bytes(draws.uniform(0, 0.05, length // 4).astype("<f4").tobytes())
        flows.append(flow(name, file, f"{name}, made-up numbers"))
    return flows


def row(figures: Figures) -> list[str]:
    """Return a row of the table."""
    decisions = figures["decisions"]
    median, dear = (f"{decisions[name] / 1e3:.2f}" for name in ("median_ns", "dear_ns"))
    return [figures["scheme"], f"{decisions['per_s']:.1f}", median, dear]


TEXT = """`python -m bench.inference` (part of `make bench`), {date}, {cpu}, load {load:.1f}: every learned
scheme runs as in the table above. Each call that its controller and its half at the receiver got is made again on fresh
instances, 20 times, and timed by itself; the fastest of the 20 counts, with the clock's own 20 ns. Of a learned scheme
most calls only count, and some decide: decisions are the calls that cost at least half as much as a dear one, which is
what one call a second is dearer than. They include what the network sees and what is done with its answer. Bound for
shipped networks: {bound:g} us.

{table}"""


def main() -> None:
    """Measure everything and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--runner", type=Path)
    parser.add_argument("--weights", action="append", default=[], metavar="SCHEME=FILE")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    flows = learned_flows()
    for weight in options.weights:
        name, _, file = weight.partition("=")
        if name not in {scheme.name for scheme in dumbbell.schemes()} or not Path(file).is_file():
            parser.error(f"--weights {weight}: allowed is SCHEME=FILE")
        flows.append(flow(name, Path(file).resolve(), f"{name}, {Path(file).name}"))
    with tempfile.TemporaryDirectory(prefix="dumbbell-") as folder:
        figures = measure(options.runner or build(), [*flows, *made_up(Path(folder))])
    built_in_names = {scheme.name for scheme in dumbbell.schemes()}
    date, cpu = datetime.datetime.now(tz=datetime.UTC).date(), environment([])["cpu"]
    head = ["scheme", "decisions per s", "us, median", "us, dear"]
    table = markdown.render(Table.of(head, map(row, figures), "lrrr"))
    section = TEXT.format(date=date, cpu=cpu, load=load, bound=BOUND_US, table=table)
    if options.write:
        replace_block(options.write, "inference", section)
    sys.stdout.write(section + "\n")
    slow = [figure["scheme"] for figure in figures if figure["decisions"]["median_ns"] > BOUND_US * 1e3]
    if built_in_names.intersection(slow):
        sys.exit(f"above the bound: {', '.join(slow)}")


if __name__ == "__main__":
    main()
