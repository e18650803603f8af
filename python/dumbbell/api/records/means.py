"""Means over repetitions: sorted by a metric, and as a table."""

from collections.abc import Sequence

from dumbbell.api.listing import metrics as definitions
from dumbbell.api.records.metrics import check_metrics
from dumbbell.base.errors import UserError
from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions
from dumbbell.results.series.table import Table

_LEVELS = ("network", "flow", "link")


def ordered(groups: Sequence[Repetitions], metric: str) -> list[Repetitions]:
    """The groups with the best mean of a metric first, path by path; those without it last.

    It is the network's, or else of the first flow, or of the first link. Where neither more nor less is better, the
    highest comes first.

    Raises:
        UserError: there is no such metric, or no run has it.
    """
    check_metrics([metric])
    known: dict[tuple[str, str], str] = {(each["level"], each["name"]): each["better"] for each in definitions()}
    levels = [level for level in _LEVELS if (level, metric) in known]
    keys: list[MetricKey] = [(level, int(level != "network"), metric) for level in levels]
    key = next((key for key in keys if any(key in group.values for group in groups)), None)
    if key is None:
        raise UserError("no run has it", argument="sort", value=metric)
    sign = 1.0 if known[key[0], metric] == "less" else -1.0

    def rank(group: Repetitions) -> float:
        estimate = group.estimate(key)
        return float("inf") if estimate is None else sign * estimate.mean

    paths = dict.fromkeys(group.path for group in groups)
    return [group for path in paths for group in sorted((each for each in groups if each.path == path), key=rank)]


def means(groups: Sequence[Repetitions], main: Sequence[str], metrics: Sequence[str] = ()) -> Table:
    """One row per path and scheme: `runs`, how many of them are `good`, and the mean of each of the `main` metrics.

    Of other `metrics` one row per path, scheme, and whatever has one of them. Behind each mean stand its
    bounds, and what they are: `confidence`, `range` or `equal`; where runs were made with two clocks, also where the
    true mean of a one-way delay lies.
    """
    names = metrics or main
    timed = {metric for group in groups for _, _, metric in group.shifts}
    rows = []
    for group in groups:
        found = {("network", 0)}
        if metrics:
            found = group.having(*names)
        for level, number in sorted(found, key=lambda each: (_LEVELS.index(each[0]), each[1])):
            estimates = [group.estimate((level, number, name)) for name in names]
            told = zip(names, estimates, strict=True)
            values = [value for name, each in told for value in (*_values(each), *_clocks(each, name in timed))]
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
        ends = columns | (clocks if name in timed else {})
        kinds |= {f"{name}{end}": kind for end, kind in ends.items()}
    return Table.of(kinds, rows)


def _clocks(estimate: Estimate | None, timed: bool) -> tuple[float | None, ...]:
    if not timed:
        return ()
    return (None, None) if estimate is None or estimate.clocks is None else estimate.clocks


def _values(estimate: Estimate | None) -> tuple[float | str | None, ...]:
    return (None,) * 4 if estimate is None else (estimate.mean, estimate.low, estimate.high, estimate.bounds)
