"""Throughput over delay: mean of each scheme."""

from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import PATH
from dumbbell.present.report.drawn.overview import Overview

SCOPE = PATH
NOTHING = "has throughput and one-way delay"


def draw(of: OfResults) -> Drawn:
    """Draws the means, with where they lie."""
    found, path = Overview(of.model), of.one_path
    why = f"none of the runs on {path} that count {NOTHING}"
    timed = any(mean.delay_ms.clocks for mean in found.means[path])
    columns = {"path": "text", "scheme": "text", "runs": "integer"}
    for metric in ("throughput_mbps", "delay_p95_ms"):
        columns |= {name: "number" for name in (metric, f"{metric}_low", f"{metric}_high")}
    columns |= {"in_front": "integer"}
    columns |= {"delay_p95_ms_clocks_low": "number", "delay_p95_ms_clocks_high": "number"} if timed else {}
    return of.drawn(path, found.draw("means", path, of.name), columns, lambda: _rows(found, path, timed), why)


def _rows(found: Overview, path: str, timed: bool) -> list[list[object]]:
    rows: list[list[object]] = []
    for mean in found.means[path]:
        estimates = (mean.throughput_mbps, mean.delay_ms)
        values = [value for each in estimates for value in (each.mean, each.low, each.high)]
        clocks = (mean.delay_ms.clocks or (None, None)) if timed else ()
        rows.append([path, mean.scheme, mean.throughput_mbps.count, *values, int(mean.in_front), *clocks])
    return rows
