"""Facts of the scorecard: rules that were met, and the cells."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from dumbbell.results.judging.criteria import Fact
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredCell, MeasuredExperiment, MeasuredRun, link_of
from dumbbell.results.numbers import value_of
from dumbbell.results.series.samples import planned_span


@dataclass(frozen=True)
class Sight:
    """Result of a rule for one scheme: the number of examined cells, and the cells in which some run met it."""

    fact: Fact
    scheme: str
    examined_count: int
    cells_met: tuple[tuple[MeasuredExperiment, MeasuredCell], ...]


def look(benchmark: MeasuredBenchmark, fact: Fact, scheme: str) -> Sight:
    """Look for a fact in the runs of a scheme."""
    examined_count, cells_met = 0, []
    for experiment in (
        experiment for name in fact.experiments if (experiment := benchmark.find(name)) and scheme in experiment.labels
    ):
        for cell in experiment.cells:
            if not _is_chosen(fact, experiment, cell) or not cell.good(scheme) or not _numbers(fact, cell, scheme):
                continue
            verdicts = [_meets(fact, experiment, cell, scheme, run) for run in cell.good(scheme)]
            known_verdicts = [verdict for verdict in verdicts if verdict is not None]
            examined_count += bool(known_verdicts)
            if any(known_verdicts):
                cells_met.append((experiment, cell))
    return Sight(fact, scheme, examined_count, tuple(cells_met))


def _is_chosen(fact: Fact, experiment: MeasuredExperiment, cell: MeasuredCell) -> bool:
    axes = [axis.name for axis in experiment.part.experiment_file.grid]
    return all(axis in axes and cell.place(axis) in values for axis, values in fact.cells)


def _numbers(fact: Fact, cell: MeasuredCell, scheme: str) -> tuple[int, ...]:
    """Return the flows that the rule is about; a rule about `ours` needs other flows beside them."""
    own_plans, competing = cell.ours_of(scheme), cell.theirs_of(scheme)
    if fact.whose == "theirs":
        return competing
    if fact.whose == "ours":
        return own_plans if competing else ()
    return (*own_plans, *competing)


def _meets(
    fact: Fact, experiment: MeasuredExperiment, cell: MeasuredCell, scheme: str, run: MeasuredRun
) -> bool | None:
    """Return True if a run meets the rule; None if it has no such number."""
    values = list(_values(fact, cell, scheme, run))
    if fact.missing:
        return any(value is None for value in values)
    ratios = []
    for value, divisor in zip(values, _divisors(fact, experiment, cell, scheme, run), strict=True):
        if value is not None and divisor:
            ratios.append(value / divisor)
    return any(value > fact.above for value in ratios) if ratios else None


def _values(fact: Fact, cell: MeasuredCell, scheme: str, run: MeasuredRun) -> Iterator[float | None]:
    if fact.metric.level != "flow":
        table = run.content["network"] if fact.metric.level == "network" else link_of(run, cell.bottleneck)
        yield value_of(table, fact.metric.name)
        return
    numbers = _numbers(fact, cell, scheme)
    yield from (value_of(flow, fact.metric.name) for flow in run.flows(numbers))


def _divisors(
    fact: Fact, experiment: MeasuredExperiment, cell: MeasuredCell, scheme: str, run: MeasuredRun
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
            values = [
                value
                for baseline_cell in _baseline(fact, experiment, cell)
                for value in baseline_cell.values(scheme, fact.metric)
            ]
            yield sum(values) / len(values) if values else None
        else:
            yield 1.0


def _baseline(fact: Fact, experiment: MeasuredExperiment, cell: MeasuredCell) -> list[MeasuredCell]:
    """Return the cells that differ from this one only by their place at the baseline."""
    baseline_places = dict(fact.baseline)
    axes = [axis.name for axis in experiment.part.experiment_file.grid]
    return [
        candidate
        for candidate in experiment.cells
        if candidate.base == cell.base
        and all(candidate.place(axis) == baseline_places.get(axis, cell.place(axis)) for axis in axes)
    ]
