"""Means over repetitions, sorted by a metric, and as a table."""

from collections.abc import Sequence

from dumbbell.api.listing import metrics as definitions
from dumbbell.api.records.metrics import check_metrics
from dumbbell.base.errors import UserError
from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions
from dumbbell.results.series.table import Table

_LEVELS = ("network", "flow", "link")


def ordered(groups: Sequence[Repetitions], metric: str) -> list[Repetitions]:
    """Return the groups of each path with the best mean of a metric first, and groups without it last.

    The metric is the network's, else that of the first flow, else that of the first link. If neither more nor less is
    better, the highest mean is first.

    Raises:
        UserError: If there is no such metric, or no run has it.
    """
    check_metrics([metric])
    better: dict[tuple[str, str], str] = {
        (definition["level"], definition["name"]): definition["better"] for definition in definitions()
    }
    levels = [level for level in _LEVELS if (level, metric) in better]
    keys: list[MetricKey] = [(level, int(level != "network"), metric) for level in levels]
    key = next((key for key in keys if any(key in group.values for group in groups)), None)
    if key is None:
        raise UserError("no run has it", argument="sort", value=metric)
    sign = 1.0 if better[key[0], metric] == "less" else -1.0

    def rank(group: Repetitions) -> float:
        estimate = group.estimate(key)
        return float("inf") if estimate is None else sign * estimate.mean

    paths = dict.fromkeys(group.path for group in groups)
    return [
        group
        for path in paths
        for group in sorted((candidate for candidate in groups if candidate.path == path), key=rank)
    ]


def means(groups: Sequence[Repetitions], main: Sequence[str], metrics: Sequence[str] = ()) -> Table:
    """Return a row for each path and scheme: `runs`, the number of `good` runs, and the mean of each `main` metric.

    With other `metrics`, return a row for each path, scheme and entity with one of them. Each mean is followed by its
    bounds, and their kind: `confidence`, `range` or `equal`. For runs with two clocks, the interval of the
    true mean of a one-way delay follows.
    """
    names = metrics or main
    clocked_metrics = {metric for group in groups for _, _, metric in group.shifts}
    rows = []
    for group in groups:
        entities = {("network", 0)}
        if metrics:
            entities = group.having(*names)
        for level, number in sorted(entities, key=lambda entity: (_LEVELS.index(entity[0]), entity[1])):
            estimates = [group.estimate((level, number, name)) for name in names]
            named_estimates = zip(names, estimates, strict=True)
            values = [
                value
                for name, estimate in named_estimates
                for value in (*_values(estimate), *_clocks(estimate, name in clocked_metrics))
            ]
            rows.append([group.path, group.scheme, group.runs, group.good, level, number, *values])
    kinds = {
        "path": "text",
        "scheme": "text",
        "runs": "integer",
        "good": "integer",
        "level": "text",
        "number": "integer",
    }
    columns = {"": "number", "_low": "number", "_high": "number", "_bounds": "text"}
    clocks = {"_clocks_low": "number", "_clocks_high": "number"}
    for name in names:
        ends = columns | (clocks if name in clocked_metrics else {})
        kinds |= {f"{name}{end}": kind for end, kind in ends.items()}
    return Table.of(kinds, rows)


def _clocks(estimate: Estimate | None, is_clocked: bool) -> tuple[float | None, ...]:
    if not is_clocked:
        return ()
    return (None, None) if estimate is None or estimate.clocks is None else estimate.clocks


def _values(estimate: Estimate | None) -> tuple[float | str | None, ...]:
    return (None,) * 4 if estimate is None else (estimate.mean, estimate.low, estimate.high, estimate.bounds)
