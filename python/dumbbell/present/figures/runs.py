"""Throughput over delay: every run."""

from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import PATH
from dumbbell.present.report.content import RunEntry
from dumbbell.present.report.drawn.overview import Overview

SCOPE = PATH


def draw(of: OfResults) -> Drawn:
    """Draws a point for each run."""
    found, path = Overview(of.model), of.one_path
    why = f"none of the runs on {path} that count has throughput and one-way delay"
    good = [run for run in of.model.of(path) if run.good]
    known = [run for run in good if None not in (run.network.get("throughput_mbps"), run.network.get("delay_p95_ms"))]
    timed = any(run.clocks for run in known)
    columns = {"path": "text", "scheme": "text", "run": "integer"}
    columns |= {"throughput_mbps": "number", "delay_p95_ms": "number"}
    columns |= {"delay_p95_ms_clocks_low": "number", "delay_p95_ms_clocks_high": "number"} if timed else {}
    return of.drawn(path, found.draw("runs", path, of.name), columns, lambda: _rows(known, path, timed), why)


def _rows(runs: list[RunEntry], path: str, timed: bool) -> list[list[object]]:
    rows: list[list[object]] = []
    for run in runs:
        clocks = (run.interval("network", 0, "delay_p95_ms") or (None, None)) if timed else ()
        numbers = (run.network["throughput_mbps"], run.network["delay_p95_ms"])
        rows.append([path, run.scheme, run.number, *numbers, *clocks])
    return rows
