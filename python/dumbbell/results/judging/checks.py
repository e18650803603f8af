"""Whether the numbers of a benchmark agree with each other. ccperf.net shows another experiment's table under #15."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from dumbbell.results.judging.measured import MeasuredCell, MeasuredExperiment, MeasuredRun
from dumbbell.results.numbers import value_of
from dumbbell.results.series.samples import planned_span

_TOLERANCE = 1e-6

ALONE = (
    ("jain_index", 1.0),
    ("jain_index_mean", 1.0),
    ("mean_jains_fairness_throughput_l4", 1.0),
    ("mean_entropy_fairness_throughput_l4", 0.0),
)
"""Fairness of a single flow: Jain's index is 1 and the entropy 0, by their definitions."""


@dataclass(frozen=True)
class Contradiction:
    """A run whose numbers cannot all be right."""

    run: MeasuredRun
    text: str


def contradictions(findings: MeasuredExperiment) -> Iterator[Contradiction]:
    """Everything that does not fit in one experiment."""
    for cell in findings.cells:
        for label, runs in cell.runs.items():
            for run in runs:
                if run.good:
                    found = (
                        *_count(cell, label, run),
                        *_alone(run),
                        *_sum(cell, label, run),
                    )
                    yield from (Contradiction(run, text) for text in found)


def _count(cell: MeasuredCell, label: str, run: MeasuredRun) -> Iterator[str]:
    planned = [cell.plans[label][owner - 1].scheme for owner in run.owners]
    found = [flow.get("scheme", "") for flow in run.content["flows"]]
    if planned != found:
        yield f"planned are {_counted(planned)}; its statistics have {_counted(found)}"


def _counted(schemes: list[str]) -> str:
    return ", ".join(f"{count} flows of {name}" for name, count in Counter(schemes).items()) or "no flows"


def _alone(run: MeasuredRun) -> Iterator[str]:
    if len(run.content["flows"]) != 1:
        return
    for name, expected in ALONE:
        value = value_of(run.content["network"], name)
        if value is not None and not math.isclose(value, expected, abs_tol=_TOLERANCE):
            yield f"{name} of a single flow is {value:g}, not {expected:g}"


def _sum(cell: MeasuredCell, label: str, run: MeasuredRun) -> Iterator[str]:
    """What the flows got in all: the aggregate, and each flow's mean over its own time. Transfers may end earlier."""
    flows, network = run.content["flows"], run.content["network"]
    total = value_of(network, "mean_agg_throughput_l4")
    each = [(value_of(flow, "mean_throughput_l4"), *planned_span(flow)) for flow in flows]
    if total is None or not each or any(mean is None for mean, _, _ in each) or cell.finite(label):
        return
    if any(not math.isfinite(stop) for _, _, stop in each):
        return
    length_s = max(stop for _, _, stop in each) - min(start for _, start, _ in each)
    got = sum((mean or 0.0) * (stop - start) for mean, start, stop in each)
    if not math.isclose(got, total * length_s, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        yield f"mean_agg_throughput_l4 is {total:g}; the flows together have {got / length_s:g}"
