"""`bbr3-linux` beside the file that it is made after, over the same transport and the same draws of the path.

Usage: python -m validation.bbr3_linux TREE [--write docs/schemes/bbr3-linux.md].
TREE is the folder of a source tree of google/bbr@001a430, of which nothing is in this repository. Its
`net/ipv4/tcp_bbr.c` is compiled as it stands by `dumbbell plugin kernel`.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block
from validation.kernel_sources import STUDENT, Difference, Samples, difference

FILE = "net/ipv4/tcp_bbr.c"
"""The original, of google/bbr@001a430."""
SCHEMES = ("bbr3-linux", "bbr3")
"""The scheme that is judged, and the draft's beside it, which need not agree."""

# What follows was chosen before the first table that it judges was made.

TOLERANCE_THROUGHPUT = 0.05
"""Largest relative difference in the mean throughput of a flow."""
TOLERANCE_DELAY, TOLERANCE_DELAY_MS = 0.10, 2.0
"""Largest difference in its 95th-percentile one-way delay, relative or in ms, whichever allows more."""
RUNS = max(STUDENT)
"""Runs per cell and scheme; runs of one number meet the same draws."""
SECONDS, SECOND_FLOW_S = 30.0, 5.0

PATH = """
[[data]]
kind = "link"
rate_mbps = {rate}
queue = {{ kind = "droptail", bytes = {bytes} }}
{schedule}
{loss}
[[data]]
kind = "delay"
delay_ms = {delay}

[[ack]]
kind = "delay"
delay_ms = {delay}
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A path and the flows on it."""

    mbps: float = 0.0
    rtt_ms: float = 0.0
    bdps: float = 1.0
    """Length of the queue in bandwidth-delay products of the first rate."""
    loss: float = 0.0
    """Probability of random loss."""
    steps: str = ""
    """The link's schedule as TOML."""
    path: str = ""
    """A path of the catalog instead."""
    flows: str = "[[flow]]\n"
    """The flows as TOML; those without a scheme have the one that is compared."""
    compared: int = 1
    """How many of them, from the first on, have it."""

    def toml(self, name: str) -> str:
        """Return the path as TOML."""
        return f'name = "{name}"\n' + PATH.format(
            rate=self.mbps,
            bytes=int(self.mbps * 1e6 / 8 * self.rtt_ms / 1e3 * self.bdps),
            schedule=f"schedule = [{self.steps}]" if self.steps else "",
            loss=f'[[data]]\nkind = "loss"\nprobability = {self.loss}\n' if self.loss else "",
            delay=self.rtt_ms / 2,
        )


TWO = f"[[flow]]\n\n[[flow]]\nstart_s = {SECOND_FLOW_S}\n"
CELLS = {
    "12 Mbit/s, 60 ms, 1 BDP": Cell(mbps=12, rtt_ms=60),
    "50 Mbit/s, 40 ms, 0.25 BDP": Cell(mbps=50, rtt_ms=40, bdps=0.25),
    "50 Mbit/s, 40 ms, 1 BDP": Cell(mbps=50, rtt_ms=40),
    "50 Mbit/s, 40 ms, 4 BDP": Cell(mbps=50, rtt_ms=40, bdps=4),
    "100 Mbit/s, 10 ms, 1 BDP": Cell(mbps=100, rtt_ms=10),
    "50 Mbit/s, 40 ms, 1 BDP, 0.1 % loss": Cell(mbps=50, rtt_ms=40, loss=0.001),
    "50 Mbit/s, 40 ms, 1 BDP, 1 % loss": Cell(mbps=50, rtt_ms=40, loss=0.01),
    "50 Mbit/s, 40 ms, 1 BDP, 2 % loss": Cell(mbps=50, rtt_ms=40, loss=0.02),
    "`policer-12mbps-20ms`": Cell(path="policer-12mbps-20ms"),
    "`cellular-verizon-lte-down`": Cell(path="cellular-verizon-lte-down"),
    "40 Mbit/s, from 10 s on 10, from 20 s on 40; 40 ms, 1 BDP": Cell(
        mbps=40, rtt_ms=40, steps="{ at_s = 10.0, rate_mbps = 10.0 }, { at_s = 20.0, rate_mbps = 40.0 }"
    ),
    "12 Mbit/s, 60 ms, 1 BDP, application of 6 Mbit/s": Cell(
        mbps=12, rtt_ms=60, flows='[[flow]]\napplication = { kind = "constant", rate_mbps = 6.0 }\n'
    ),
    "12 Mbit/s, 60 ms, 1 BDP, two flows, 5 s apart": Cell(mbps=12, rtt_ms=60, flows=TWO, compared=2),
    "50 Mbit/s, 40 ms, 1 BDP, two flows, 5 s apart": Cell(mbps=50, rtt_ms=40, flows=TWO, compared=2),
    "20 Mbit/s, 40 ms, 2 BDP, beside `cubic`": Cell(
        mbps=20, rtt_ms=40, bdps=2, flows='[[flow]]\n\n[[flow]]\nscheme = "cubic"\n'
    ),
}


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


def samples_of(name: str, schemes: list[str], folder: Path, seed: int) -> list[Samples]:
    """Return throughput in Mbit/s and 95th-percentile one-way delay in ms, by scheme, run and flow."""
    cell = CELLS[name]
    path = folder / "path.toml"
    path.write_text(cell.toml("path"))
    experiment = folder / "experiment.toml"
    experiment.write_text(
        f'name = "cell"\nschemes = {schemes}\npaths = ["{cell.path or path}"]\nduration_s = {SECONDS}\n'.replace(
            "'", '"'
        )
        + f'runs = {RUNS}\nseed = {seed}\nlog = "none"\n\n{cell.flows}'
    )
    with tempfile.TemporaryDirectory(dir=folder) as out:
        done = dumbbell.run(str(experiment), out=Path(out) / "out", trust=True)
        found: dict[str, Samples] = {}
        for run in sorted(done.runs, key=lambda run: run.run):
            if run.statistics["status"] != "done":
                sys.exit(f"{run.scheme} on {name}: {run.statistics['reason']}")
            flows = run.statistics["flows"][: cell.compared]
            found.setdefault(run.scheme, []).append([(flow["throughput_mbps"], flow["delay_p95_ms"]) for flow in flows])
    return [found[Path(scheme).stem] for scheme in schemes]


def verdict(throughput: Difference, delay: Difference) -> str:
    """Return `yes` within both tolerances, `within the spread` if the 95 % intervals reach into them, else `no`."""
    allowed = max(TOLERANCE_DELAY, TOLERANCE_DELAY_MS / delay.theirs)
    words = {throughput.verdict(TOLERANCE_THROUGHPUT), delay.verdict(allowed)}
    return next(worst for worst in ("no", "open", "yes") if worst in words).replace("open", "within the spread")


def agreement(schemes: list[str], original: str, chosen: str, folder: Path, seed: int) -> str:
    """Return the table of the schemes beside the original, as Markdown."""
    rows, agreed = [], dict.fromkeys(schemes, 0)
    names = [name for name in CELLS if chosen in name]
    for name in names:
        *all_of_ours, theirs = samples_of(name, [*schemes, original], folder, seed)
        for scheme, ours in zip(schemes, all_of_ours, strict=True):
            flows = [
                [
                    difference([run[flow][metric] for run in ours], [run[flow][metric] for run in theirs])
                    for metric in (0, 1)
                ]
                for flow in range(len(theirs[0]))
            ]
            words = {verdict(*flow) for flow in flows}
            word = next(worst for worst in ("no", "within the spread", "yes") if worst in words)
            agreed[scheme] += word == "yes"
            rates, delays = (", ".join(flow[metric].text for flow in flows) for metric in (0, 1))
            rows.append([name, f"`{scheme}`", rates, delays, word])
            print(markdown.line(rows[-1]), file=sys.stderr, flush=True)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    head = ["path", "scheme", "Mbit/s", "p95 of the one-way delay, ms", "within 5 % and 10 % or 2 ms"]
    return (
        f"`python -m validation.bbr3_linux TREE --write docs/schemes/bbr3-linux.md`, {date}: means of {RUNS} runs of "
        f"{SECONDS:g} s, built in / original (difference ± half of its 95 % interval); two flows: the first, the "
        + "second. "
        + " ".join(f"`{scheme}`: {count} of {len(names)} cells within." for scheme, count in agreed.items())
        + f"\n\n{markdown.render(Table.of(head, rows, 'llrrl'))}"
    )


if __name__ == "__main__":
    main()
