"""Comparison of `bbr3-linux` with the file that it follows, over one transport, with equal draws of the path.

Usage: python -m validation.bbr3_linux TREE [--write docs/schemes/bbr3-linux.md].
TREE is the folder of a source tree of google/bbr@001a430, of which nothing is in this repository. Its
`net/ipv4/tcp_bbr.c` is compiled as it stands by `dumbbell plugin kernel`.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block
from validation.kernel_sources import SECOND_FLOW_S, SECONDS, STUDENT, Cell, Samples, difference, verdict
from validation.originals import LEAST_MS

FILE = "net/ipv4/tcp_bbr.c"
"""The original, in google/bbr@001a430."""
SCHEMES = ("bbr3-linux", "bbr3")
"""The judged scheme, and the draft's scheme for comparison, which need not agree."""

# The tolerances of originals.py hold here, too; they were chosen before the first table that they judge.

RUNS = max(STUDENT)
"""Runs per cell and scheme; runs of one number have the same random draws."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A cell and the flows in it."""

    cell: Cell
    flows: str = "[[flow]]\n"
    """Flows as TOML; flows without a scheme have the compared one."""
    flow_count: int = 1
    """Number of flows with the compared scheme, from the first one on."""


TWO = f"[[flow]]\n\n[[flow]]\nstart_s = {SECOND_FLOW_S}\n"
SLOW = Cell(path="12 Mbit/s, 60 ms, 1 BDP", mbps=12.0, rtt_ms=60.0)
FAST = Cell(path="50 Mbit/s, 40 ms, 1 BDP", mbps=50.0, rtt_ms=40.0)


def listed_cell(name: str) -> Cell:
    """Return a cell of a shipped path."""
    return Cell(path=f"`{name}`", mbps=0.0, rtt_ms=0.0, preset=name)


EXPERIMENTS = (
    Experiment(cell=SLOW),
    Experiment(cell=replace(FAST, path="50 Mbit/s, 40 ms, 0.25 BDP", bdps=0.25)),
    Experiment(cell=FAST),
    Experiment(cell=replace(FAST, path="50 Mbit/s, 40 ms, 4 BDP", bdps=4.0)),
    Experiment(cell=Cell(path="100 Mbit/s, 10 ms, 1 BDP", mbps=100.0, rtt_ms=10.0)),
    Experiment(cell=replace(FAST, path=f"{FAST.path}, 0.1 % loss", loss=0.001)),
    Experiment(cell=replace(FAST, path=f"{FAST.path}, 1 % loss", loss=0.01)),
    Experiment(cell=replace(FAST, path=f"{FAST.path}, 2 % loss", loss=0.02)),
    Experiment(cell=listed_cell("policer-12mbps-20ms")),
    Experiment(cell=listed_cell("cellular-verizon-lte-down")),
    Experiment(
        cell=Cell(
            path="40 Mbit/s, from 10 s on 10, from 20 s on 40; 40 ms, 1 BDP",
            mbps=40.0,
            rtt_ms=40.0,
            steps=((10.0, 10.0), (20.0, 40.0)),
        )
    ),
    Experiment(
        cell=replace(SLOW, path=f"{SLOW.path}, application of 6 Mbit/s"),
        flows='[[flow]]\napplication = { kind = "constant", rate_mbps = 6.0 }\n',
    ),
    Experiment(cell=replace(SLOW, path=f"{SLOW.path}, two flows, 5 s apart"), flows=TWO, flow_count=2),
    Experiment(cell=replace(FAST, path=f"{FAST.path}, two flows, 5 s apart"), flows=TWO, flow_count=2),
    Experiment(
        cell=Cell(path="20 Mbit/s, 40 ms, 2 BDP, beside `cubic`", mbps=20.0, rtt_ms=40.0, bdps=2.0),
        flows='[[flow]]\n\n[[flow]]\nscheme = "cubic"\n',
    ),
)


def main() -> None:
    """Run all and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--schemes", default=",".join(SCHEMES), help="built-in schemes, with commas between")
    parser.add_argument("--cells", default="", help="text that the names of cells have to contain; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    schemes = options.schemes.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        original = str(dumbbell.compile_kernel_controller(options.tree / FILE, folder / "libtcp_bbr.so").scheme)
        text = agreement(schemes, original, options.cells, folder, options.seed)
    if options.write:
        replace_block(options.write, "bbr3-linux", text)
    print(text)


def samples_of(experiment: Experiment, schemes: list[str], folder: Path, seed: int) -> list[Samples]:
    """Return throughput in Mbit/s and 95th-percentile one-way delay in ms, by scheme, run and flow."""
    cell = experiment.cell
    path = folder / "path.toml"
    path.write_text(cell.toml("path"))
    file = folder / "experiment.toml"
    file.write_text(
        f'name = "cell"\nschemes = {schemes}\npaths = ["{cell.preset or path}"]\nduration_s = {SECONDS}\n'.replace(
            "'", '"'
        )
        + f'runs = {RUNS}\nseed = {seed}\nlog = "none"\n\n{experiment.flows}'
    )
    with tempfile.TemporaryDirectory(dir=folder) as out:
        result = dumbbell.run(str(file), out=Path(out) / "out", trust=True)
        samples: dict[str, Samples] = {}
        for run in sorted(result.runs, key=lambda run: run.run):
            if run.statistics["status"] != "done":
                sys.exit(f"{run.scheme} on {cell.path}: {run.statistics['reason']}")
            flows = run.statistics["flows"][: experiment.flow_count]
            samples.setdefault(run.scheme, []).append(
                [(flow["throughput_mbps"], flow["delay_p95_ms"]) for flow in flows]
            )
    return [samples[Path(scheme).stem] for scheme in schemes]


def agreement(schemes: list[str], original: str, path_part: str, folder: Path, seed: int) -> str:
    """Return the table of the schemes and the original, as Markdown."""
    rows, within_count = [], dict.fromkeys(schemes, 0)
    experiments = [candidate for candidate in EXPERIMENTS if path_part in candidate.cell.path]
    for experiment in experiments:
        *all_of_ours, original_samples = samples_of(experiment, [*schemes, original], folder, seed)
        for scheme, own_samples in zip(schemes, all_of_ours, strict=True):
            flows = [
                [
                    difference(
                        [run[flow][metric] for run in own_samples], [run[flow][metric] for run in original_samples]
                    )
                    for metric in (0, 1)
                ]
                for flow in range(len(original_samples[0]))
            ]
            word = verdict(flows, LEAST_MS).replace("open", "within the spread")
            within_count[scheme] += word == "yes"
            rates, delays = (", ".join(flow[metric].text for flow in flows) for metric in (0, 1))
            rows.append([experiment.cell.path, f"`{scheme}`", rates, delays, word])
            print(markdown.line(rows[-1]), file=sys.stderr, flush=True)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    head = ["path", "scheme", "Mbit/s", "p95 of the one-way delay, ms", "within 5 % and 10 % or 2 ms"]
    return (
        f"`python -m validation.bbr3_linux TREE --write docs/schemes/bbr3-linux.md`, {date}: means of {RUNS} runs of "
        f"{SECONDS:g} s, built in / original (difference ± half of its 95 % interval); two flows: the first, the "
        + "second. "
        + " ".join(f"`{scheme}`: {count} of {len(experiments)} cells within." for scheme, count in within_count.items())
        + f"\n\n{markdown.render(Table.of(head, rows, 'llrrl'))}"
    )


if __name__ == "__main__":
    main()
