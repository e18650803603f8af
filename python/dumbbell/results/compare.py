"""Two results directories side by side: which differences are larger than the scatter of the runs."""

from typing import Any

from dumbbell.results.summary import Estimate, MetricKey, Repetitions, repetitions

Side = tuple[list[str], list[dict[str, Any]]]
"""The names of an experiment's paths, and its runs as in `show --json`."""

MAIN_METRICS = ("throughput_mbps", "delay_p95_ms", "loss_rate")


def compare_runs(before: Side, after: Side, metrics: tuple[str, ...] | None) -> list[dict[str, Any]]:
    """One row per path, scheme and metric; `metrics` restricts to those names, `None` takes all.

    Where each side has a single path, these are compared whatever their names: the same path measured and modelled.
    """
    left, right = repetitions(before[1]), repetitions(after[1])
    names = (before[0], after[0])
    if len(names[0]) == len(names[1]) == 1 and names[0] != names[1]:
        both = f"{names[0][0]} | {names[1][0]}"
        left, right = (_renamed(side, both) for side in (left, right))
    rows = []
    for key in dict.fromkeys([*left, *right]):
        one, other = left.get(key, Repetitions(*key)), right.get(key, Repetitions(*key))
        for metric in dict.fromkeys([*one.values, *other.values]):
            if metrics is None or metric[2] in metrics:
                rows.append(_row(one, other, metric))
    return rows


def _renamed(side: dict[tuple[str, str], Repetitions], path: str) -> dict[tuple[str, str], Repetitions]:
    for group in side.values():
        group.path = path
    return {(path, scheme): group for (_, scheme), group in side.items()}


def _row(one: Repetitions, other: Repetitions, metric: MetricKey) -> dict[str, Any]:
    a, b = one.estimate(metric), other.estimate(metric)
    difference = b.mean - a.mean if a and b else None
    return {
        "path": one.path,
        "scheme": one.scheme,
        "entity": metric[0],
        "number": metric[1],
        "metric": metric[2],
        "a": estimate_json(a),
        "b": estimate_json(b),
        "difference": difference,
        "relative": difference / abs(a.mean) if difference is not None and a and a.mean else None,
        "intervals_overlap": a.overlaps(b) if a and b else None,
    }


def estimate_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """An estimate as JSON."""
    if estimate is None:
        return None
    return {"runs": estimate.count, "mean": estimate.mean, "low": estimate.low, "high": estimate.high}
