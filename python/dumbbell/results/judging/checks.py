"""Consistency of the numbers of a benchmark. ccperf.net shows another experiment's table under #15."""

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
    """A run with inconsistent numbers."""

    run: MeasuredRun
    text: str


def contradictions(findings: MeasuredExperiment) -> Iterator[Contradiction]:
    """Yield the inconsistencies in one experiment."""
    for cell in findings.cells:
        for label, runs in cell.runs.items():
            for run in runs:
                if run.good:
                    texts = (
                        *_count(cell, label, run),
                        *_alone(run),
                        *_sum(cell, label, run),
                    )
                    yield from (Contradiction(run, text) for text in texts)


def _count(cell: MeasuredCell, label: str, run: MeasuredRun) -> Iterator[str]:
    planned_schemes = [cell.plans[label][owner - 1].scheme for owner in run.owners]
    measured_schemes = [flow.get("scheme", "") for flow in run.content["flows"]]
    if planned_schemes != measured_schemes:
        yield f"planned are {_count_text(planned_schemes)}; its statistics have {_count_text(measured_schemes)}"


def _count_text(schemes: list[str]) -> str:
    return ", ".join(f"{count} flows of {name}" for name, count in Counter(schemes).items()) or "no flows"


def _alone(run: MeasuredRun) -> Iterator[str]:
    if len(run.content["flows"]) != 1:
        return
    for name, expected in ALONE:
        value = value_of(run.content["network"], name)
        if value is not None and not math.isclose(value, expected, abs_tol=_TOLERANCE):
            yield f"{name} of a single flow is {value:g}, not {expected:g}"


def _sum(cell: MeasuredCell, label: str, run: MeasuredRun) -> Iterator[str]:
    """Yield a contradiction if the sum over flows, each over its own time, differs from the aggregate.

    Transfers with an end may stop earlier, and are not compared.
    """
    flows, network = run.content["flows"], run.content["network"]
    total = value_of(network, "mean_agg_throughput_l4")
    flow_means = [(value_of(flow, "mean_throughput_l4"), *planned_span(flow)) for flow in flows]
    if total is None or not flow_means or any(mean is None for mean, _, _ in flow_means) or cell.finite(label):
        return
    if any(not math.isfinite(stop) for _, _, stop in flow_means):
        return
    length_s = max(stop for _, _, stop in flow_means) - min(start for _, start, _ in flow_means)
    transferred_mbit = sum((mean or 0.0) * (stop - start) for mean, start, stop in flow_means)
    if not math.isclose(transferred_mbit, total * length_s, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        yield f"mean_agg_throughput_l4 is {total:g}; the flows together have {transferred_mbit / length_s:g}"
