"""Built-in controllers beside the files of a Linux source tree, over the same transport and the same draws of the path.

Usage: python benchmarks/kernel_sources.py TREE [--write docs/kernel-sources.md] [--runs 3]. TREE is the folder of a
kernel's source; the files are compiled as they stand by `dumbbell plugin kernel`.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import tempfile
from pathlib import Path

from blocks import replace_block

import dumbbell

NAMESAKES = ("cubic", "bbr", "vegas", "dctcp")
OTHERS = ("illinois", "westwood", "htcp", "bic", "yeah")
TOLERANCE_THROUGHPUT, TOLERANCE_DELAY = 0.05, 0.10
"""Largest relative differences in throughput and in 95th-percentile delay; chosen before the first table was made."""

SECONDS, RUNS = 30.0, 3

LINK = """
[[data]]
kind = "link"
rate_mbps = {rate}
queue = {queue}
{schedule}
{loss}
[[data]]
kind = "delay"
delay_ms = {delay}

[[ack]]
kind = "delay"
delay_ms = {delay}
"""


def path(
    name: str, title: str, rate: float, rtt: float, bdps: float = 1.0, loss: float = 0.0, then: float = 0.0
) -> str:
    """A path as TOML: a link with a queue of `bdps` bandwidth-delay products; from 15 s on at `then` Mbit/s."""
    queue = f'{{ kind = "droptail", bytes = {int(rate * 1e6 / 8 * rtt / 1e3 * bdps)} }}'
    if name == "marks":
        queue = '{ kind = "step", packets = 1000, threshold_packets = 20 }'
    return f'name = "{name}"\ntitle = "{title}"\n' + LINK.format(
        rate=rate,
        queue=queue,
        schedule=f"schedule = [{{ at_s = 15.0, rate_mbps = {then} }}]" if then else "",
        loss=f'[[data]]\nkind = "loss"\nprobability = {loss}\n' if loss else "",
        delay=rtt / 2,
    )


PATHS = {
    "short": path("short", "12 Mbit/s, 40 ms, 1 BDP", 12.0, 40.0),
    "long": path("long", "50 Mbit/s, 100 ms, 1 BDP", 50.0, 100.0),
    "lossy": path("lossy", "12 Mbit/s, 40 ms, 1 BDP, 0.1 % loss", 12.0, 40.0, loss=0.001),
    "falls": path("falls", "40 Mbit/s, from 15 s on 10; 40 ms, 1 BDP", 40.0, 40.0, then=10.0),
    "marks": path("marks", "100 Mbit/s, 2 ms, marks from 20 packets on", 100.0, 2.0),
}


def main() -> None:
    """Run all and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        text = tables(options.tree, folder, options.runs)
    if options.write:
        replace_block(options.write, "kernel-sources", text)
    print(text)


def tables(tree: Path, folder: Path, runs: int) -> str:
    """Return the tables as Markdown."""
    schemes = {}
    for name in (*NAMESAKES, *OTHERS):
        source = tree / "net" / "ipv4" / f"tcp_{name}.c"
        schemes[name] = str(dumbbell.compile_kernel_controller(source, folder / f"libtcp_{name}.so").scheme)
    means: dict[tuple[str, str], tuple[float, float]] = {}
    for name, toml in PATHS.items():
        (folder / f"{name}.toml").write_text(toml)
        marked = name == "marks"
        compared = ["dctcp"] if marked else [each for each in NAMESAKES if each != "dctcp"]
        chosen = [
            *compared,
            *(schemes[each] for each in compared),
            *(() if marked else (schemes[each] for each in OTHERS)),
        ]
        done = dumbbell.run(
            schemes=chosen, path=str(folder / f"{name}.toml"), runs=runs, duration=SECONDS, out=folder / f"out-{name}"
        )
        samples: dict[str, list[tuple[float, float]]] = {}
        for run in done.runs:
            if run.statistics["status"] != "done":
                sys.exit(f"{run.scheme} on {name}: {run.statistics['reason']}")
            flow = run.statistics["flows"][0]
            samples.setdefault(run.scheme, []).append((flow["throughput_mbps"], flow["delay_p95_ms"]))
        for scheme, each in samples.items():
            rates, delays = zip(*each, strict=True)
            means[name, scheme] = statistics.mean(rates), statistics.mean(delays)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    lines = [
        f"`python benchmarks/kernel_sources.py TREE --write docs/kernel-sources.md`, {date}, {version(tree)}: means of "
        f"{runs} runs of {SECONDS:g} s, built in / kernel's file.",
        "",
        "| path | scheme | Mbit/s | p95 of the one-way delay, ms | within 5 % and 10 % |",
        "|---|---|---:|---:|---|",
    ]
    for path_name, toml in PATHS.items():
        title = toml.split('title = "')[1].split('"')[0]
        for name in NAMESAKES:
            if (path_name, name) not in means:
                continue
            (ours, our_delay), (theirs, their_delay) = means[path_name, name], means[path_name, f"tcp_{name}"]
            throughput, delay = ours / theirs - 1, our_delay / their_delay - 1
            verdict = "yes" if abs(throughput) <= TOLERANCE_THROUGHPUT and abs(delay) <= TOLERANCE_DELAY else "no"
            lines.append(
                f"| {title} | {name} | {ours:.2f} / {theirs:.2f} ({throughput:+.0%}) | "
                f"{our_delay:.1f} / {their_delay:.1f} ({delay:+.0%}) | {verdict} |"
            )
    lines += ["", "The kernel's files that have no built-in namesake:", "", "| path | " + " | ".join(OTHERS) + " |"]
    lines.append("|---|" + "---:|" * len(OTHERS))
    for path_name, toml in PATHS.items():
        if (path_name, f"tcp_{OTHERS[0]}") not in means:
            continue
        title = toml.split('title = "')[1].split('"')[0]
        cells = [means[path_name, f"tcp_{name}"] for name in OTHERS]
        lines.append(f"| {title} | " + " | ".join(f"{mbps:.2f}, {delay:.1f} ms" for mbps, delay in cells) + " |")
    return "\n".join(lines)


def version(tree: Path) -> str:
    """Return the version that the tree's Makefile names."""
    values = {}
    for line in (tree / "Makefile").read_text().splitlines()[:8]:
        name, _, value = line.partition("=")
        values[name.strip()] = value.strip()
    return f"Linux v{values['VERSION']}.{values['PATCHLEVEL']}.{values['SUBLEVEL']}"


if __name__ == "__main__":
    main()
