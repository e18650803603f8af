"""Changes of the numbers of a campaign: medians and quartiles by hour of day, and by round."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dumbbell.results.clocks import Interval, clocks_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of a metric over runs, interpolated linearly between neighbours."""

    count: int
    low: float
    median: float
    high: float
    clocks: Interval | None = None
    """Interval of the true median of a one-way delay between two clocks."""

    @classmethod
    def of(cls, values: list[float], intervals: Sequence[Interval] = ()) -> Spread:
        """Return the spread of one value or more; `intervals` contain the true values, if two clocks measured them."""
        clocks = None
        if intervals:
            low, high = (statistics.median(ends) for ends in zip(*intervals, strict=True))
            clocks = (low, high)
        if len(values) == 1:
            return cls(1, values[0], values[0], values[0], clocks)
        first, median, third = statistics.quantiles(values, n=4, method="inclusive")
        return cls(len(values), first, median, third, clocks)


@dataclass(frozen=True)
class Period:
    """A time of the campaign, or of the day: `number` orders them, `at_s` is the start of its first run (Unix time)."""

    number: int
    at_s: float
    runs: int
    metrics: Mapping[str, Spread]


def started_s(run: RunTable) -> float | None:
    """Return the start of a run, Unix time; None if unknown."""
    try:
        return datetime.fromisoformat(str(run.get("started_at"))).timestamp()
    except ValueError:
        return None


def hour_of_day(run: RunTable) -> int | None:
    """Return the hour in UTC, 0 to 23, in which a run began."""
    began_s = started_s(run)
    return None if began_s is None else datetime.fromtimestamp(began_s, UTC).hour


def stretch(rounds: int, max_groups: int) -> int:
    """Return the number of rounds in a group, for at most `most` groups of `rounds` rounds."""
    return max(-(-rounds // max_groups), 1)


def periods(
    runs: Iterable[RunTable], number: Callable[[RunTable], int | None], metrics: Sequence[str]
) -> dict[str, list[Period]]:
    """Return the periods with good runs by scheme, in order.

    `number` returns the period of a run, or None; `metrics` are keys of the network.
    """
    runs_by_scheme: dict[str, dict[int, list[RunTable]]] = {}
    for run in runs:
        place = number(run) if run["status"] == "done" and started_s(run) is not None else None
        if place is not None:
            runs_by_scheme.setdefault(run["scheme"], {}).setdefault(place, []).append(run)
    return {
        scheme: [_period(place, members, metrics) for place, members in sorted(places.items())]
        for scheme, places in runs_by_scheme.items()
    }


def _period(number: int, runs: list[RunTable], keys: Sequence[str]) -> Period:
    metrics = {}
    for metric in keys:
        run_values = [
            (run, float(value)) for run in runs if isinstance(value := run["network"].get(metric), int | float)
        ]
        intervals = [_interval(run, metric, value) for run, value in run_values]
        if run_values:
            known_intervals = [interval for interval in intervals if interval is not None]
            metrics[metric] = Spread.of(
                [value for _, value in run_values], known_intervals if len(known_intervals) == len(run_values) else ()
            )
    began = [began_s for run in runs if (began_s := started_s(run)) is not None]
    return Period(number, min(began), len(runs), metrics)


def _interval(run: RunTable, metric: str, value: float) -> Interval | None:
    clocks = clocks_of(run)
    return None if clocks is None else clocks.interval("network", 0, metric, value)
