"""Comparison of learned schemes with CUBIC, BBR and each other: one flow, several flows, and against CUBIC and BBR.

Usage: python -m validation.learned [--keep DIR]. Runs `learned`, `learned-fairness` and two cells of `competition`, and
writes the tables of docs/evidence/learned.md and two figures into docs/images. Takes about two minutes on two
processors; what is finished stays in DIR (default `results/learned`), so that an interrupted call continues where it
was.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.present.plots.heatmap import MapAxis, heatmap_figure
from dumbbell.present.plots.parts.typeset import figure_as
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "learned.md"
IMAGES = ROOT / "docs" / "images"

Runs = dict[tuple[str, str], list[dict[str, Any]]]
"""Runs as in `show --json`, by path and scheme."""


@dataclass(frozen=True)
class Column:
    """A path of `learned`: its name in a table, and its link's average capacity after the warm-up, Mbit/s."""

    path: str
    title: str
    mbps: float


BASE = Column("learned-base", "40 Mbit/s, 60 ms, 1 BDP", 40.0)
TABLES = {
    "rate": [
        Column("learned-rate-1", "1 Mbit/s", 1.0),
        Column("learned-rate-4", "4 Mbit/s", 4.0),
        Column("learned-rate-12", "12 Mbit/s", 12.0),
        Column(BASE.path, "40 Mbit/s", 40.0),
        Column("learned-rate-150", "150 Mbit/s", 150.0),
        Column("learned-rate-400", "400 Mbit/s", 400.0),
    ],
    "rtt": [
        Column("learned-rtt-10", "RTT 10 ms", 40.0),
        Column(BASE.path, "60 ms", 40.0),
        Column("learned-rtt-200", "200 ms", 40.0),
        Column("learned-buffer-small", "buffer 0.2 BDP", 40.0),
        Column("learned-buffer-large", "5 BDP", 40.0),
    ],
    "disturbed": [
        BASE,
        Column("learned-loss", "1 % random loss", 40.0),
        Column("learned-jitter", "jitter of 5 ms", 40.0),
        # From 5 to 30 s the rate is three times 10 and twice 40 Mbit/s.
        Column("learned-steps", "40 and 10 Mbit/s in turn", 22.0),
        Column("learned-route", "RTT 60, then 120 ms", 40.0),
    ],
    "calibrated": [
        Column("india-aws-india", "`india-aws-india`", 100.42),
        Column("nepal-aws-india", "`nepal-aws-india`", 0.57),
        Column("mexico-cellular", "`mexico-cellular`", 2.64),
    ],
}
FAIR_PATHS = {"fair-40": 40.0, "fair-2": 2.0}
CELLS = {
    "rtts-60-60": "2 flows",
    "rtts-60-60-60-60": "4 flows",
    "rtts-60-60-60-60-60-60-60-60": "8 flows",
    "rtts-30-120": "2: 30 and 120 ms",
    "rtts-10-10-10-10": "4: 10 ms",
    "rtts-400-400-400-400": "4: 400 ms",
}
GAP = "start_gap_s-1"
RIVALS = ("cubic", "bbr")
COMPETITION = "default.bw_factor-4.qlen_bdp-1.versus-"


def run(name: str, folder: Path, *options: str) -> Runs:
    """Run `dumbbell run NAME` in the folder; return its runs. The script ends if a run is not good."""
    command = [sys.executable, "-m", "dumbbell", "run", name, *options, "--out", str(folder), "--json"]
    result = subprocess.run([*command, "--resume"] if folder.exists() else command, stdout=subprocess.PIPE, check=False)
    if result.returncode:
        sys.exit(f"learned: {' '.join(command)}: exit status {result.returncode}")
    runs: Runs = {}
    for made_run in json.loads(result.stdout)["runs"]:
        runs.setdefault((made_run["path"], made_run["scheme"]), []).append(made_run)
    return runs


def mean(runs: Sequence[dict[str, Any]], metric: str) -> float | None:
    """Return the mean over the runs of a metric of all flows together; None if no run has it."""
    values = [made_run["network"][metric] for made_run in runs if made_run["network"][metric] is not None]
    return statistics.fmean(values) if values else None


def number(value: float | None) -> str:
    """Return three significant digits, and at most two decimals."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(columns: Sequence[str], schemes: Sequence[str], cell: Callable[[str, int], str]) -> str:
    """Return a table in Markdown; `cell` gets the scheme and the number of the column."""
    rows = [[f"`{scheme}`", *(cell(scheme, index) for index in range(len(columns)))] for scheme in schemes]
    return markdown.render(Table.of(["scheme", *columns], rows, "l" + "r" * len(columns)))


def single(runs: Runs, columns: Sequence[Column], schemes: Sequence[str]) -> str:
    """Return goodput, p95 of the one-way delay, and loss of one flow on these paths."""

    def cell(scheme: str, index: int) -> str:
        path_runs = runs[columns[index].path, scheme]
        loss = mean(path_runs, "packet_loss_rate")
        parts = (mean(path_runs, "goodput_mbps"), mean(path_runs, "owd_p95_ms"), None if loss is None else 100.0 * loss)
        return " / ".join(number(part) for part in parts)

    return table([column.title for column in columns], schemes, cell)


def together(runs: Runs, path: str, schemes: Sequence[str]) -> str:
    """Return Jain's index, the share of the link that all flows get, and loss."""

    def cell(scheme: str, index: int) -> str:
        cell_runs = runs[f"{path}.{list(CELLS)[index]}.{GAP}", scheme]
        jain, goodput, loss = (mean(cell_runs, name) for name in ("jain_index", "goodput_mbps", "packet_loss_rate"))
        assert goodput is not None
        share, loss_percent = 100.0 * goodput / FAIR_PATHS[path], None if loss is None else 100.0 * loss
        return f"{'-' if jain is None else f'{jain:.2f}'} / {share:.0f} / {number(loss_percent)}"

    return table(list(CELLS.values()), schemes, cell)


def against(runs: Runs, schemes: Sequence[str]) -> str:
    """Return the goodput of one flow against one of CUBIC or BBR, and the goodput of its competitor, Mbit/s."""

    def cell(scheme: str, index: int) -> str:
        rival = RIVALS[index // 2]
        rival_runs = runs[COMPETITION + rival, scheme]
        if index % 2:
            return number(mean(rival_runs, "owd_p95_ms"))
        sides = [
            statistics.fmean(made_run["flows"][side]["goodput_mbps"] for made_run in rival_runs) for side in (0, 1)
        ]
        return " / ".join(number(side) for side in sides)

    columns = [text for rival in RIVALS for text in (f"it / `{rival}`, Mbit/s", "p95 ms")]
    return table(columns, [scheme for scheme in schemes if scheme not in RIVALS], cell)


def links(runs: Runs, schemes: Sequence[str]) -> str:
    """Draw the share of the link that one flow gets in every condition, as a figure."""
    columns = list(dict.fromkeys(column for group in TABLES.values() for column in group))
    columns = list({column.path: column for column in columns}.values())
    values = [
        [100.0 * (mean(runs[column.path, scheme], "goodput_mbps") or 0.0) / column.mbps for column in columns]
        for scheme in reversed(schemes)
    ]
    names = [column.path.removeprefix("learned-") for column in columns]
    rows = MapAxis("", [title(scheme) for scheme in reversed(schemes)])
    return heatmap_figure("links", MapAxis("", names), rows, values, "Goodput, % of the link", (0.0, 100.0), 0)


def shares(runs: Runs, schemes: Sequence[str]) -> str:
    """Draw Jain's index in every cell as a figure."""
    places = [(path, cell) for path in FAIR_PATHS for cell in CELLS]
    values = [
        [mean(runs[f"{path}.{cell}.{GAP}", scheme], "jain_index") for path, cell in places]
        for scheme in reversed(schemes)
    ]
    names = [f"{FAIR_PATHS[path]:g} Mbit/s, {CELLS[cell]}" for path, cell in places]
    rows = MapAxis("", [title(scheme) for scheme in reversed(schemes)])
    return heatmap_figure("shares", MapAxis("", names), rows, values, "Jain's index, 30 to 60 s", (0.0, 1.0), 2)


def title(scheme: str) -> str:
    """Return the name of a scheme in figures."""
    return dumbbell.schemes().find(scheme).title


def main() -> None:
    """Run everything; write the tables and the figures."""
    parser = argparse.ArgumentParser(description="Learned schemes beside CUBIC, BBR and each other.")
    parser.add_argument(
        "--keep", type=Path, default=Path("results") / "learned", help="where results are, and continued"
    )
    keep = parser.parse_args().keep
    schemes = list(dumbbell.experiments().find("learned").schemes)
    cells = ",".join(COMPETITION + rival for rival in RIVALS)
    alone = run("learned", keep / "alone")
    fair = run("learned-fairness", keep / "fairness")
    rivals = ["--schemes", ",".join(schemes), "--cell", cells, "--runs", "5"]
    beside = run("competition", keep / "competition", *rivals)
    for name, columns in TABLES.items():
        replace_block(PAGE, name, single(alone, columns, schemes))
    for path in FAIR_PATHS:
        replace_block(PAGE, path, together(fair, path, schemes))
    replace_block(PAGE, "against", against(beside, schemes))
    origin = f"`python -m validation.learned`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}."
    replace_block(PAGE, "made", f"Tables and figures: {origin}")
    for name, svg in (("learned-links", links(alone, schemes)), ("learned-fairness", shares(fair, schemes))):
        (IMAGES / f"{name}.png").write_bytes(figure_as("png", svg))


if __name__ == "__main__":
    main()
