"""Comparison of built-in controllers with the kernel's own code, over one transport and with the same random draws.

Usage: python -m validation.kernel_sources TREE [--write docs/evidence/kernel-sources.md].
TREE is the folder of a Linux source tree: its controllers are compiled as they stand by `dumbbell plugin kernel`.
"""

from __future__ import annotations

import argparse
import datetime
import math
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

NAMESAKES = {"cubic-linux": "cubic", "bbr": "bbr", "vegas": "vegas", "dctcp": "dctcp"}
"""Built-in schemes and the kernel's files that they stand for."""
OTHERS = ("illinois", "westwood", "htcp", "bic", "yeah")

# These values were chosen before the first table that they judge was made.

TOLERANCE_THROUGHPUT, TOLERANCE_DELAY = 0.05, 0.10
"""Largest relative differences in throughput and in 95th-percentile one-way delay."""
TOLERANCES = (TOLERANCE_THROUGHPUT, TOLERANCE_DELAY)
RUNS, MORE_RUNS = 5, 20
"""Runs per cell, and runs of a cell that stays open; runs of one number have equal draws with both schemes."""
STUDENT = {RUNS: 2.776, MORE_RUNS: 2.093}
"""97.5 % quantiles of Student's t distribution, by number of runs."""
FRESH_SEED = 1001
"""Seed of the repetition of cells that are open."""

SECONDS, SECOND_FLOW_S = 30.0, 5.0

LINK = """
[[data]]
kind = "link"
rate_mbps = {rate}
queue = {queue}
{schedule}
{loss}{also}
[[data]]
kind = "delay"
delay_ms = {delay}

[[ack]]
kind = "delay"
delay_ms = {delay}
"""

STEP = "[[data.schedule]]\nat_s = {}\nrate_mbps = {}\n"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A path and the flows on it."""

    path: str
    """Description of the path."""
    mbps: float
    rtt_ms: float
    bdps: float = 1.0
    """Length of the queue in bandwidth-delay products."""
    packets: int = 0
    """Length of the queue, packets, used instead of `bdps` if above 0."""
    marks: bool = False
    """True for a queue that marks from 20 packets on: a cell for DCTCP."""
    marks_ms: float = 0.0
    """Delay from which the queue marks, ms, used instead if above 0: a cell for L4S."""
    loss: float = 0.0
    """Probability of random loss."""
    steps: Sequence[tuple[float, float]] = ()
    """Times, s, and the rates of the link from then on, Mbit/s."""
    also: str = ""
    """TOML of further elements behind the link."""
    flows: int = 1
    """Number of flows of one scheme, each `SECOND_FLOW_S` after the other."""
    beside: bool = False
    """True for one flow of each of the two schemes, which start together."""
    preset: str = ""
    """Name of a built-in path that replaces the link."""

    @property
    def title(self) -> str:
        """Return the description of the cell in a table."""
        if self.beside:
            return f"{self.path}, one flow of each"
        return self.path if self.flows == 1 else f"{self.path}, two flows, {SECOND_FLOW_S:g} s apart"

    def toml(self, name: str) -> str:
        """Return the path as TOML."""
        queue = f'{{ kind = "droptail", bytes = {int(self.mbps * 1e6 / 8 * self.rtt_ms / 1e3 * self.bdps)} }}'
        if self.packets:
            queue = f'{{ kind = "droptail", packets = {self.packets} }}'
        if self.marks:
            queue = '{ kind = "step", packets = 1000, threshold_packets = 20 }'
        if self.marks_ms:
            queue = f'{{ kind = "step", packets = 2000, threshold_ms = {self.marks_ms} }}'
        return f'name = "{name}"\ntitle = "{self.path}"\n' + LINK.format(
            rate=self.mbps,
            queue=queue,
            schedule="".join(STEP.format(*step) for step in self.steps),
            loss=f'[[data]]\nkind = "loss"\nprobability = {self.loss}\n' if self.loss else "",
            also=self.also,
            delay=self.rtt_ms / 2,
        )


SHORT = Cell(path="12 Mbit/s, 40 ms, 1 BDP", mbps=12.0, rtt_ms=40.0)
MIDDLE = Cell(path="20 Mbit/s, 40 ms, 1 BDP", mbps=20.0, rtt_ms=40.0)
MARKS = Cell(path="100 Mbit/s, 2 ms, marks from 20", mbps=100.0, rtt_ms=2.0, marks=True)
CELLS = {
    "short": SHORT,
    "long": Cell(path="50 Mbit/s, 100 ms, 1 BDP", mbps=50.0, rtt_ms=100.0),
    "shallow": replace(SHORT, path="12 Mbit/s, 40 ms, 40 packets", packets=40),
    "fast": Cell(path="100 Mbit/s, 54 ms, 173 packets", mbps=100.0, rtt_ms=54.0, packets=173),
    "lossy": replace(SHORT, path=f"{SHORT.path}, 0.1 % loss", loss=0.001),
    "lossier": Cell(path="50 Mbit/s, 40 ms, 1 BDP, 1 % loss", mbps=50.0, rtt_ms=40.0, loss=0.01),
    "falls": Cell(path="40 Mbit/s, from 15 s on 10; 40 ms, 200 kB", mbps=40.0, rtt_ms=40.0, steps=((15.0, 10.0),)),
    "rises": Cell(
        path="10 Mbit/s, from 15 s on 40; 40 ms, 200 kB", mbps=10.0, rtt_ms=40.0, bdps=4.0, steps=((15.0, 40.0),)
    ),
    "two": replace(MIDDLE, flows=2),
    "beside": replace(MIDDLE, beside=True),
    "marks": replace(MARKS, path=f"{MARKS.path} packets on"),
    "marks-falls": replace(MARKS, path="100 Mbit/s, from 15 s on 25; 2 ms, marks from 20", steps=((15.0, 25.0),)),
    "marks-two": replace(MARKS, flows=2),
    "marks-beside": replace(MARKS, beside=True),
}


@dataclass(frozen=True)
class Difference:
    """Means of a metric, and half of the 95 % interval of the difference of paired runs, relative to the original's."""

    own_mean: float
    original_mean: float
    half: float

    @property
    def relative(self) -> float:
        """Return the difference of the means as a share of the original's mean."""
        return self.own_mean / self.original_mean - 1

    @property
    def text(self) -> str:
        """Return both means and their difference, for a table."""
        return f"{self.own_mean:.2f} / {self.original_mean:.2f} ({self.relative:+.0%} ± {self.half:.0%})"

    def verdict(self, tolerance: float, least: float = 0.0) -> str:
        """Return `yes` within the tolerance, `open` if the interval reaches into it, else `no`.

        `least` is a tolerance in the metric's unit, which counts where it is the larger one.
        """
        tolerance = max(tolerance, least / self.original_mean)
        if abs(self.relative) <= tolerance:
            return "yes"
        return "open" if abs(self.relative) - self.half <= tolerance else "no"


def main() -> None:
    """Run all and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="names of built-in schemes, with commas between; default: all")
    parser.add_argument("--cells", default="", help="names of cells, with commas between; default: all")
    parser.add_argument("--runs", type=int, default=RUNS, choices=sorted(STUDENT), help="runs per cell")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    date = datetime.datetime.now(tz=datetime.UTC).date()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = "python -m validation.kernel_sources TREE --write docs/evidence/kernel-sources.md"
        origin = f"`{command}`, {date}, {version(options.tree)}"
        pairs = compile_sources(options.tree, NAMESAKES, folder)
        if options.only:
            pairs = {name: pairs[name] for name in options.only.split(",")}
        cells = [CELLS[name] for name in (options.cells.split(",") if options.cells else CELLS)]
        rows = [
            (cell, own_scheme, pair)
            for cell in cells
            for own_scheme, pair in pairs.items()
            if cell.marks == (own_scheme == "dctcp")
        ]
        text = agreement(rows, folder, origin, options.runs)
        if not (options.only or options.cells):
            text += "\n" + without_namesake(options.tree, folder)
    if options.write:
        replace_block(options.write, "kernel-sources", text)
    print(text)


def compile_sources(tree: Path, names: dict[str, str], folder: Path) -> dict[str, str]:
    """Return the scheme files of the kernel's sources, by the built-in schemes in `names`."""
    files = {}
    for own_name, name in names.items():
        source = tree / "net" / "ipv4" / f"tcp_{name}.c"
        files[own_name] = str(dumbbell.compile_kernel_controller(source, folder / f"libtcp_{name}.so").scheme)
    return files


Samples = list[list[tuple[float, float]]]
"""Throughput in Mbit/s and 95th-percentile one-way delay in ms, by run and flow."""


def samples_of(cell: Cell, scheme: str, folder: Path, runs: int, seed: int) -> Samples:
    """Return throughput and delay of the flows of `scheme`, or of a mix, in the cell."""
    file = folder / "cell.toml"
    file.write_text(cell.toml("cell"))
    with tempfile.TemporaryDirectory(dir=folder) as out:
        result = dumbbell.run(
            schemes=() if cell.beside else scheme,
            mixes=scheme if cell.beside else (),
            path=cell.preset or str(file),
            runs=runs,
            seed=seed,
            duration=SECONDS,
            flows=cell.flows,
            interval=0.0 if cell.beside else SECOND_FLOW_S,
            log="none",
            out=Path(out) / "out",
            trust=True,
        )
        for run in result.runs:
            if run.statistics["status"] != "done":
                sys.exit(f"{run.scheme} on {cell.title}: {run.statistics['reason']}")
        flows = [run.statistics["flows"] for run in sorted(result.runs, key=lambda run: run.run)]
    return [[(flow["throughput_mbps"], flow["delay_p95_ms"]) for flow in run_flows] for run_flows in flows]


def differences(
    cell: Cell, own_scheme: str, original: str, folder: Path, runs: int, seed: int
) -> list[list[Difference]]:
    """Return the differences in throughput and in delay of each flow of `own_scheme` from that of `original`."""
    if cell.beside:
        joint_samples = samples_of(cell, f"{own_scheme}+{original}", folder, runs, seed)
        first, second = (
            [run_samples[:1] for run_samples in joint_samples],
            [run_samples[1:] for run_samples in joint_samples],
        )
    else:
        first, second = (samples_of(cell, scheme, folder, runs, seed) for scheme in (own_scheme, original))
    return [
        [difference([run[flow][metric] for run in first], [run[flow][metric] for run in second]) for metric in (0, 1)]
        for flow in range(len(first[0]))
    ]


def difference(own_values: list[float], original_values: list[float]) -> Difference:
    """Return the difference between paired values."""
    apart = [own_value - other for own_value, other in zip(own_values, original_values, strict=True)]
    half = STUDENT[len(apart)] * statistics.stdev(apart) / math.sqrt(len(apart))
    mean = statistics.mean(original_values)
    return Difference(statistics.mean(own_values), mean, half / mean)


def verdict(flows: list[list[Difference]], least_ms: float = 0.0) -> str:
    """Return the worst verdict of all flows and metrics; a difference in delay up to `least_ms` is within."""
    leasts = (0.0, least_ms)
    all_of = {
        metric_difference.verdict(limit, least)
        for flow in flows
        for metric_difference, limit, least in zip(flow, TOLERANCES, leasts, strict=True)
    }
    return next(worst for worst in ("no", "open", "yes") if worst in all_of)


def agreement(
    rows: Iterable[tuple[Cell, str, str]], folder: Path, origin: str, usual: int, least_ms: float = 0.0
) -> str:
    """Return the table of cells with a built-in scheme and the scheme file of its original, as Markdown."""
    lines = []
    for cell, own_scheme, original in rows:
        run_differences, runs = differences(cell, own_scheme, original, folder, usual, 1), usual
        if verdict(run_differences, least_ms) == "open":
            run_differences, runs = differences(cell, own_scheme, original, folder, MORE_RUNS, FRESH_SEED), MORE_RUNS
        word = verdict(run_differences, least_ms).replace("open", "within the spread")
        rates, delays = (", ".join(flow[metric].text for flow in run_differences) for metric in (0, 1))
        lines.append(
            [cell.title, Path(own_scheme).stem, rates, delays, word + (f" ({runs} runs)" if runs != usual else "")]
        )
        print(markdown.line(lines[-1]), file=sys.stderr, flush=True)
    within = "within 5 % and 10 %" + (f" or {least_ms:g} ms" if least_ms else "")
    head = ["path", "scheme", "Mbit/s", "p95 of the one-way delay, ms", within]
    return (
        f"{origin}: means of {usual} runs of {SECONDS:g} s, built in / original (difference ± half of its 95 % "
        f"interval); two flows: the first, the second.\n\n{markdown.render(Table.of(head, lines, 'llrrl'))}"
    )


def without_namesake(tree: Path, folder: Path) -> str:
    """Return a table of the kernel's files that no built-in scheme stands for, as Markdown."""
    files = compile_sources(tree, {name: name for name in OTHERS}, folder)
    rows = []
    for cell in CELLS.values():
        if cell.beside or cell.marks:
            continue
        means = []
        for scheme in files.values():
            samples = [run[0] for run in samples_of(cell, scheme, folder, RUNS, 1)]
            rate, delay = (statistics.mean(run[metric] for run in samples) for metric in (0, 1))
            means.append(f"{rate:.2f}, {delay:.1f} ms")
        rows.append([cell.title, *means])
    table = markdown.render(Table.of(["path", *OTHERS], rows, "l" + "r" * len(OTHERS)))
    return f"\nThe kernel's files that have no built-in namesake (the first flow of two):\n\n{table}"


def version(tree: Path) -> str:
    """Return the version that the tree's Makefile names."""
    values = {}
    for line in (tree / "Makefile").read_text().splitlines()[:8]:
        name, _, value = line.partition("=")
        values[name.strip()] = value.strip()
    return f"Linux v{values['VERSION']}.{values['PATCHLEVEL']}.{values['SUBLEVEL']}"


if __name__ == "__main__":
    main()
