"""Cost of a controller in C and of one in Python, compared with the built-in one: ns per ACK.

Usage: python -m bench.plugins [--write docs/how-to/plugins.md] [--runner FILE]. The controllers are
`examples/c/aimd.c`, `examples/python/aimd.py` and the built-in `reno`, which decide the same. The library is measured
by `crates/cost/examples/controller_cost.rs` (`--runner` is that program if it is built already): the calls of a run,
made again on fresh controllers. The class is measured as what a simulated run takes longer. Exit status 1 if one costs
more than it may.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.controllers import ROOT, build, measure
from dumbbell import plugin_include
from dumbbell.core.runs import simulate
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

BOUND_C_NS, BOUND_PYTHON_NS = 30.0, 3000.0
REPETITIONS = 7
TRANSPORT = {"ack_every": 1}

PATH = {
    "data": [
        {"kind": "link", "rate_mbps": 100.0, "queue": {"kind": "droptail", "bytes": 500000}},
        {"kind": "loss", "probability": 0.0001},
        {"kind": "delay", "delay_ms": 20.0},
    ],
    "ack": [{"kind": "delay", "delay_ms": 20.0}],
}

TEXT = """`python -m bench.plugins`, {date}, {cpu}: [aimd.c]({repository}/examples/c/aimd.c) and
[aimd.py]({repository}/examples/python/aimd.py) beside the built-in `reno`, which decides the same.
The path has 100 Mbit/s and 40 ms; runs take 20 s with an ACK for every packet. The library: all calls of the run made
again on fresh controllers, the fastest of 20 repetitions. The class: what the simulated run takes longer with it, the
least of {repetitions} pairs of runs.
Bounds: {bound_c:.0f} ns and {bound_python:.0f} ns more than the built-in one.

| | ns per ACK | more than built in |
|---|---:|---:|
| built in | {builtin:.0f} | |
| C | {c:.0f} | {more_c:.0f} |
| Python | {python:.0f} | {more_python:.0f} |"""


def library(folder: Path) -> Path:
    """Return the compiled C example."""
    out = folder / "libaimd.so"
    source = ROOT / "examples/c/aimd.c"
    command = ["cc", "-O2", "-shared", "-fPIC", "-I", plugin_include(), source, "-o", out, "-lm"]
    subprocess.run(command, check=True)
    return out


def simulated_ns(flow: dict[str, Any]) -> float:
    """Return the simulator's time for one run, ns per ACK."""
    specification = {"seed": 1, "duration_s": 20.0, "log": "none", "path": PATH, "flows": [flow]}
    statistics = simulate(specification)
    return float(statistics["sim_wall_s"] * 1e9 / statistics["flows"][0]["packets_delivered"])


def figures(runner: Path) -> dict[str, float]:
    """Return the costs of the three controllers per ACK."""
    flow: dict[str, Any] = {"scheme": "aimd", "transport": TRANSPORT}
    with tempfile.TemporaryDirectory() as scratch:
        plugin = {"controller": "aimd", "plugin": {"library": str(library(Path(scratch)))}}
        built_in, native = measure(runner, [flow | {"controller": "reno"}, flow | plugin])
    python_flow = flow | {"controller": "Aimd", "python": {"file": str(ROOT / "examples/python/aimd.py")}}
    pairs = [simulated_ns(python_flow) - simulated_ns(flow | {"controller": "reno"}) for _ in range(REPETITIONS)]
    return {
        "builtin": built_in["ns_per_ack"],
        "c": native["ns_per_ack"],
        "more_c": native["ns_per_ack"] - built_in["ns_per_ack"],
        "python": built_in["ns_per_ack"] + min(pairs),
        "more_python": min(pairs),
    }


def main() -> None:
    """Measure and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--runner", type=Path)
    options = parser.parse_args()
    results = figures(options.runner or build())
    section = TEXT.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        cpu=environment([])["cpu"],
        repository="../..",  # from the page
        repetitions=REPETITIONS,
        bound_c=BOUND_C_NS,
        bound_python=BOUND_PYTHON_NS,
        **results,
    )
    if options.write:
        replace_block(options.write, "plugins", section)
    print(section)
    if results["more_c"] > BOUND_C_NS or results["more_python"] > BOUND_PYTHON_NS:
        sys.exit("above the bound")


if __name__ == "__main__":
    main()
