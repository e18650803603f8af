"""Differences between two results directories: the rows of `dumbbell diff`, for the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.base.errors import capitalized
from dumbbell.present.serve.runs_table import known_metric
from dumbbell.results.analysis.compare import Comparison, compare_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dumbbell.present.model.figure_metrics import FigureMetric
    from dumbbell.results.directory import ResultsDirectory

MOVED = ("different", "ranges apart")
"""Verdicts on differences beyond the scatter of the runs, all compared metrics together."""


def difference_rows(base: ResultsDirectory, second: ResultsDirectory, metrics: Sequence[str]) -> dict[str, object]:
    """Return the rows of these metrics of the network."""
    sides = [(list(results.experiment.paths), results.runs()) for results in (base, second)]
    rows = compare_runs(sides[0], sides[1], tuple(metrics))
    return {"rows": [row for comparison in rows if (row := _row(comparison)) is not None]}


def _row(row: Comparison) -> dict[str, object] | None:
    metric = known_metric(row["metric"])
    if row["entity"] != "network" or metric is None:
        return None
    a, b = row["a"], row["b"]
    return {
        "path": row["path"],
        "scheme": row["scheme"],
        "metric": row["metric"],
        "title": capitalized(metric.title),
        "unit": metric.unit,
        "digits": metric.digits,
        "better": metric.better,
        "base": _scale(metric, a["mean"] if a else None),
        "base_runs": a["runs"] if a else 0,
        "other": _scale(metric, b["mean"] if b else None),
        "other_runs": b["runs"] if b else 0,
        "low": _scale(metric, row["low"]),
        "high": _scale(metric, row["high"]),
        "p": row["p_adjusted"],
        "verdict": row["verdict"],
        "moved": row["verdict"] in MOVED,
    }


def _scale(metric: FigureMetric, value: float | None) -> float | None:
    return None if value is None else metric.factor * value
