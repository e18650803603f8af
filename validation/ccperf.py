"""Comparison of the built-in TCP with the profile `ns3-compat` and ns-3's: ccperf's single flow on its static paths.

Usage: python -m validation.ccperf --runs FILE [--write docs/evidence/ccperf-ns3.md]. FILE has the runs of ns-3.41 (set
up as in docs/evidence/derivations.md): CSV with the columns experiment (`steady_state_single_flow`), cca, path, metric
and value. Runs the same flows, 15 s each, and prints both sides. Paths with random loss, where one draw says little,
run with several seeds and show the range. Exit status 1 if the medians over the paths without random loss deviate by
more than 5 %.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import statistics
import sys
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

SCHEMES = {
    "TcpNewReno": "ns3-newreno",
    "TcpLinuxReno": "ns3-linux-reno",
    "TcpCubic": "ns3-cubic",
    "TcpVegas": "ns3-vegas",
}
JUDGED = ("TcpNewReno", "TcpCubic", "TcpVegas")
STEADY = ("static.default", "static.india_to_aws_india", "static.aws_california_to_mexico")
LOSSY = ("static.aws_korea_to_china", "static.winds_satellite")
SEEDS = range(1, 21)
SECONDS = 15.0
ALLOWED = 0.05
EXPLAINED = 0.10

# Columns: heading, metric, digits.
COLUMNS = (
    ("Mbit/s", "mean_throughput_l4", 2),
    ("sRTT ms", "mean_srtt_l4", 2),
    ("retransmissions", "total_retransmissions_l4", 0),
    ("cwnd", "mean_cwnd_l4", 1),
)

# Reasons for cells that deviate by more than EXPLAINED, by controller, path and metric.
REASONS: dict[tuple[str, str, str], str] = {}

Runs = dict[tuple[str, str, str], float]


def ns3_runs(file: Path) -> Runs:
    """Return the runs of ns-3; end the script if they are not there."""
    if not file.is_file():
        sys.exit(f"ccperf: the runs of ns-3 are missing: {file} is not there")
    with file.open(newline="") as text:
        rows = [row for row in csv.DictReader(text) if row["experiment"] == "steady_state_single_flow"]
    return {(row["cca"], row["path"], row["metric"]): float(row["value"]) for row in rows}


def simulate(cca: str, path: str, seed: int) -> dict[str, float]:
    """Simulate one run; return ns-3's metrics."""
    scheme = dumbbell.schemes().find(SCHEMES[cca])
    flow = {
        "scheme": scheme.name,
        "controller": scheme.controller,
        "parameters": {name: str(value).lower() for name, value in scheme.parameters.items()},
        "transport": scheme.transport,
    }
    spec = {
        "seed": seed,
        "duration_s": SECONDS,
        "warmup_s": 0.0,
        "log": "none",
        "path": dumbbell.paths().find(path).spec(),
        "flows": [flow],
    }
    own_flow: dict[str, Any] = dumbbell.simulate(spec).statistics["flows"][0]
    return {
        "mean_throughput_l4": own_flow["goodput_mbps"],
        "mean_srtt_l4": own_flow["mean_srtt_ms"],
        "total_retransmissions_l4": own_flow["retransmissions"],
        "mean_cwnd_l4": own_flow["mean_cwnd_bytes"] / 1448,
    }


def deviation(own_value: float, ns3: float) -> float:
    """Return the difference relative to ns-3; infinite if only ns-3's value is zero."""
    if own_value == ns3:
        return 0.0
    return (own_value - ns3) / ns3 if ns3 else float("inf")


def steady(runs: Runs) -> tuple[str, dict[str, list[float]], list[str]]:
    """Return the table without random loss, the deviations of the judged cells by metric, and the notes below it."""
    rows: list[list[str]] = []
    notes: list[str] = []
    deviations: dict[str, list[float]] = {metric: [] for _, metric, _ in COLUMNS[:2]}
    for cca in SCHEMES:
        for path in STEADY:
            own_flow, cells = simulate(cca, path, 42), []
            for _, metric, digits in COLUMNS:
                ns3 = runs[cca, path, metric]
                differs = deviation(own_flow[metric], ns3)
                mark = ""
                if abs(differs) > EXPLAINED:
                    reason = REASONS.get((cca, path, metric), "not explained")
                    notes.append(reason)
                    mark = f" [{len(notes)}]"
                if cca in JUDGED and metric in deviations:
                    deviations[metric].append(abs(differs))
                cells += [f"{own_flow[metric]:.{digits}f} / {ns3:.{digits}f}", f"{differs * 100:+.1f} %{mark}"]
            rows.append([cca, path.removeprefix("static."), *cells])
    head = [title for heading, _, _ in COLUMNS for title in (f"{heading}, ours / ns-3", "deviation")]
    table = markdown.render(Table.of(["ns-3", "path", *head], rows, "ll" + "r" * len(head)))
    return table, deviations, [f"[{number}] {note}" for number, note in enumerate(notes, 1)]


def lossy(runs: Runs) -> str:
    """Return the table with random loss: median and range over the seeds, and ns-3's single draw."""
    rows = []
    for cca in SCHEMES:
        for path in LOSSY:
            draws, cells = [simulate(cca, path, seed) for seed in SEEDS], []
            for _, metric, digits in COLUMNS:
                values = sorted(draw[metric] for draw in draws)
                span = f"[{values[0]:.{digits}f}, {values[-1]:.{digits}f}]"
                cells.append(f"{statistics.median(values):.{digits}f} {span} / {runs[cca, path, metric]:.{digits}f}")
            rows.append([cca, path.removeprefix("static."), *cells])
    head = [f"{heading}, ours [range] / ns-3" for heading, _, _ in COLUMNS]
    return markdown.render(Table.of(["ns-3", "path", *head], rows, "ll" + "r" * len(head)))


def main() -> None:
    """Run everything, print it, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=Path, required=True, metavar="FILE", help="the runs of ns-3, CSV")
    parser.add_argument("--write", type=Path, help="page with the markers `ccperf-ns3`")
    arguments = parser.parse_args()
    runs = ns3_runs(arguments.runs)
    table, deviations, notes = steady(runs)
    medians = {metric: statistics.median(values) for metric, values in deviations.items()}
    origin = f"`python -m validation.ccperf --runs FILE`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    text = [
        f"Written by {origin}. {SECONDS:g} s, one flow.",
        "",
        "### Without random loss",
        "",
        f"Median deviation of {', '.join(JUDGED)}: throughput "
        f"{medians['mean_throughput_l4'] * 100:.2f} %, smoothed RTT "
        f"{medians['mean_srtt_l4'] * 100:.2f} % (allowed: {ALLOWED * 100:g} %).",
        "",
        table,
        "",
        *(line for note in notes for line in (note, "")),
        "### With random loss",
        "",
        f"Ours: median and range of {len(SEEDS)} seeds; ns-3: one draw. Not judged.",
        "",
        lossy(runs),
    ]
    print("\n".join(text))
    if arguments.write:
        replace_block(arguments.write, "ccperf-ns3", "\n".join(text))
    over = [f"{metric} by {value * 100:.1f} %" for metric, value in medians.items() if value > ALLOWED]
    if over:
        sys.exit(f"ccperf: more than {ALLOWED * 100:g} %: {', '.join(over)}")


if __name__ == "__main__":
    main()
