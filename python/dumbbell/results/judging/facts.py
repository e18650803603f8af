"""What was seen: whether a rule of the scorecard was met, and where."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dumbbell.results.judging.criteria import Fact
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredCell, MeasuredExperiment, MeasuredRun, link_of
from dumbbell.results.numbers import value_of
from dumbbell.results.series.samples import planned_span


@dataclass(frozen=True)
class Sight:
    """For one scheme: the cells looked at, and those in which the rule was met in some run."""

    fact: Fact
    scheme: str
    looked: int
    seen: tuple[tuple[MeasuredExperiment, MeasuredCell], ...]


def look(measured: MeasuredBenchmark, fact: Fact, scheme: str) -> Sight:
    """Looks for a fact in the runs of a scheme."""
    looked, seen = 0, []
    for found in (found for name in fact.experiments if (found := measured.find(name)) and scheme in found.labels):
        for cell in found.cells:
            if not _chosen(fact, found, cell) or not cell.good(scheme) or not _numbers(fact, cell, scheme):
                continue
            verdicts = [_met(fact, found, cell, scheme, run) for run in cell.good(scheme)]
            known = [verdict for verdict in verdicts if verdict is not None]
            looked += bool(known)
            if any(known):
                seen.append((found, cell))
    return Sight(fact, scheme, looked, tuple(seen))


def _chosen(fact: Fact, found: MeasuredExperiment, cell: MeasuredCell) -> bool:
    axes = [axis.name for axis in found.part.experiment_file.grid]
    return all(axis in axes and cell.place(axis) in values for axis, values in fact.cells)


def _numbers(fact: Fact, cell: MeasuredCell, scheme: str) -> tuple[int, ...]:
    """The flows it is about; those `ours` are meant beside others."""
    ours, theirs = cell.ours_of(scheme), cell.theirs_of(scheme)
    if fact.whose == "theirs":
        return theirs
    if fact.whose == "ours":
        return ours if theirs else ()
    return (*ours, *theirs)


def _met(fact: Fact, found: MeasuredExperiment, cell: MeasuredCell, scheme: str, run: MeasuredRun) -> bool | None:
    """Whether a run meets the rule; `None` if it has no such number."""
    values = list(_values(fact, cell, scheme, run))
    if fact.missing:
        return any(value is None for value in values)
    known = []
    for value, divisor in zip(values, _divisors(fact, found, cell, scheme, run), strict=True):
        if value is not None and divisor:
            known.append(value / divisor)
    return any(value > fact.above for value in known) if known else None


def _values(fact: Fact, cell: MeasuredCell, scheme: str, run: MeasuredRun) -> Iterator[float | None]:
    if fact.metric.level != "flow":
        table = run.content["network"] if fact.metric.level == "network" else link_of(run, cell.bottleneck)
        yield value_of(table, fact.metric.name)
        return
    numbers = _numbers(fact, cell, scheme)
    yield from (value_of(flow, fact.metric.name) for flow in run.flows(numbers))


def _divisors(
    fact: Fact, found: MeasuredExperiment, cell: MeasuredCell, scheme: str, run: MeasuredRun
) -> Iterator[float | None]:
    flows = run.flows(_numbers(fact, cell, scheme))
    if fact.metric.level != "flow":
        yield 1.0
        return
    for flow in flows:
        if fact.relative_to == "time":
            start_s, stop_s = planned_span(flow)
            yield stop_s - start_s if math.isfinite(stop_s) else None
        elif fact.relative_to == "capacity":
            yield value_of(link_of(run, cell.bottleneck), "capacity_mbps")
        elif fact.relative_to == "cell":
            values = [value for other in _baseline(fact, found, cell) for value in other.values(scheme, fact.metric)]
            yield sum(values) / len(values) if values else None
        else:
            yield 1.0


def _baseline(fact: Fact, found: MeasuredExperiment, cell: MeasuredCell) -> list[MeasuredCell]:
    """The cells that differ from this one only in being at the baseline."""
    moved = dict(fact.baseline)
    axes = [axis.name for axis in found.part.experiment_file.grid]
    return [
        other
        for other in found.cells
        if other.base == cell.base and all(other.place(axis) == moved.get(axis, cell.place(axis)) for axis in axes)
    ]
