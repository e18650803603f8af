"""Measured values of each experiment of a benchmark, by cell, scheme and metric."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import GREEDY
from dumbbell.experiment import Experiment, Run as Planned
from dumbbell.experiment.arrivals import expand
from dumbbell.results.analysis.summary import Estimate
from dumbbell.results.benchmark_results import Benchmark, Part
from dumbbell.results.judging.direction import MORE, NEITHER, Metric, metric
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import FlowStats

_GOOD = "done"
PATH = "path"
"""Name of the axis for paths, which is not an axis of the grid."""

_UNFINISHED = 0.05
"""Maximum part of unfinished transfers for a comparison of completion times."""

_COMPLETION = re.compile(r"^fct_(?!incomplete)|completion_time")


@dataclass(frozen=True)
class MeasuredRun:
    """One run: as planned, and as in `show --json`. `owners` are the numbers of the plans of its flows.

    `folder` is relative to the results of its experiment.
    """

    planned: Planned
    content: RunTable
    owners: tuple[int, ...]

    def flows(self, plans: Container[int]) -> list[FlowStats]:
        """Return the statistics of the flows of some plans, given by number."""
        return [flow for flow, owner in zip(self.content["flows"], self.owners, strict=False) if owner in plans]

    @property
    def good(self) -> bool:
        """True if the run counts in means."""
        return bool(self.content["status"] == _GOOD)

    @property
    def folder(self) -> str:
        """Directory of the run's files."""
        return str(self.content["directory"])


@dataclass(frozen=True)
class Flows:
    """Flows of some plans of a label. Their metric is one number, the mean."""

    label: str
    plans: tuple[int, ...]


@dataclass(frozen=True)
class MeasuredCell:
    """One cell of an experiment: a path with its axis values, and its runs by label."""

    path: PathModel
    base: str
    axis_values: Mapping[str, Any]
    places: Mapping[str, str]
    plans: Mapping[str, tuple[FlowPlan, ...]]
    ours: tuple[int, ...] | None
    endless: frozenset[str]
    runs: Mapping[str, tuple[MeasuredRun, ...]] = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the cell's path in results."""
        return self.path.name

    def label(self, axes: Sequence[str]) -> str:
        """Return the cell's name for people among cells that differ in `axes`."""
        return ", ".join(self.place(axis) if axis == PATH else f"{axis} {self.place(axis)}" for axis in axes)

    def place(self, axis: str) -> str:
        """Return the cell's value on an axis of the experiment; the path counts as one."""
        return self.base if axis == PATH else self.places[axis]

    @property
    def bottleneck(self) -> str:
        """Link of the data direction with the least capacity."""
        bottleneck = self.path.describe().bottleneck
        return bottleneck.name if bottleneck else ""

    def finite(self, label: str) -> bool:
        """Return True if a flow of the label may end or pause by itself."""
        return label not in self.endless

    def good(self, label: str) -> list[MeasuredRun]:
        """Return the runs of a label that count in means."""
        return [run for run in self.runs.get(label, ()) if run.good]

    def ours_of(self, label: str) -> tuple[int, ...]:
        """Return the numbers of the plans under test: those for which the experiment names no other scheme."""
        return self.ours or tuple(range(1, len(self.plans[label]) + 1))

    def theirs_of(self, label: str) -> tuple[int, ...]:
        """Return the numbers of the plans of other flows."""
        own_plans = self.ours_of(label)
        return tuple(number for number in range(1, len(self.plans[label]) + 1) if number not in own_plans)

    def finishes(self, label: str) -> bool:
        """Return True if nearly every transfer of the label with an end reached it: the times of a part would flatter.

        Transfers that begin just before the end of a run never finish.
        """
        networks = [run.content["network"] for run in self.good(label)]
        transfer_count = sum(entry["flows"] for network in networks for entry in network.get("completions") or [])
        unfinished_count = sum(value_of(network, "fct_incomplete") or 0.0 for network in networks)
        return bool(unfinished_count <= _UNFINISHED * transfer_count)

    def flow_values(self, flows: Flows, name: str) -> list[float]:
        """Return the metric of each run that has it."""
        means = []
        for run in self.good(flows.label):
            flow_values = [value_of(flow, name) for flow in run.flows(flows.plans)]
            known_values = [value for value in flow_values if value is not None]
            if known_values:
                means.append(sum(known_values) / len(known_values))
        return means

    def values(self, label: str, metric: Metric, link: str = "") -> list[float]:
        """Return a metric of each run, without runs that lack the metric.

        Of the network it is one value, of flows the mean over those under test, of links the value of `link` or else of
        the bottleneck.
        """
        run_values = (self.value(label, run, metric, link) for run in self.good(label))
        return [value for value in run_values if value is not None]

    def value(self, label: str, run: MeasuredRun, metric: Metric, link: str = "") -> float | None:
        """Return a metric of one run, as `values` does; None if it has none."""
        if metric.level == "flow":
            flow_values = (value_of(flow, metric.name) for flow in run.flows(self.ours_of(label)))
            known_values = [value for value in flow_values if value is not None]
            return sum(known_values) / len(known_values) if known_values else None
        return value_of(
            link_of(run, link or self.bottleneck) if metric.level == "link" else run.content["network"], metric.name
        )

    def estimate(self, label: str, metric: Metric, link: str = "") -> Estimate | None:
        """Return the mean over the runs, with its interval."""
        return estimate(self.values(label, metric, link))


USUAL = {
    "network": ("mean_agg_utilization_bw_l4", "owd_p95_ms", "packet_loss_rate", "mean_jains_fairness_throughput_l4"),
    "flow": ("mean_throughput_l4", "mean_srtt_l4", "owd_p95_ms", "packet_loss_rate", "total_retransmissions_l4"),
    "link": ("mean_qdisc_delay_l2", "mean_qdisc_length_l2", "total_qdisc_drops_l2"),
}
"""Default metrics of an experiment, for a level of which it names none."""


def is_many(plan: FlowPlan) -> bool:
    """Return True if a plan stands for several flows."""
    return bool(plan.arrivals) or plan.count != 1


def owners(experiment: Experiment, run: Planned) -> tuple[int, ...]:
    """Return the number of the plan of each flow of a run."""
    plans = experiment.flow_plans(run.scheme, run.path)
    if not any(map(is_many, plans)):
        return tuple(range(1, len(plans) + 1))
    end_s = experiment.duration_s - experiment.start_spread_ms / 1e3
    plan_numbers: list[int] = []
    for number in range(1, len(plans) + 1):
        plan_numbers += [number] * (len(expand(plans[:number], run.seed, end_s)) - len(plan_numbers))
    return tuple(plan_numbers)


def link_of(run: MeasuredRun, name: str) -> Mapping[str, object]:
    """Return the statistics of a link of a run; empty without such a link. Their order is not that of the path."""
    return next((link for link in run.content["links"] if link.get("link") == name), {})


def estimate(values: list[float]) -> Estimate | None:
    """Return the mean of values, or None if there are none."""
    return Estimate.of(values) if values else None


def rivals(cells: Sequence[MeasuredCell], labels: Sequence[str], metric: Metric) -> list[str]:
    """Return a key for each label: labels with equal keys compare in a metric.

    A label with many unfinished transfers has no comparable completion times.
    """
    if not _COMPLETION.search(metric.name):
        return [""] * len(labels)
    return ["" if all(cell.finishes(label) for cell in cells) else label for label in labels]


class MeasuredExperiment:
    """One experiment of the benchmark."""

    def __init__(self, part: Part, number: int) -> None:
        self.part = part
        self.number = number
        self.name = part.name
        self.experiment = part.results.experiment
        self.title = self.experiment.title or part.name
        self.membership = part.membership
        self.labels = self.experiment.labels
        self.cells = tuple(self._cells())

    def _cells(self) -> Iterator[MeasuredCell]:
        experiment, results = self.experiment, self.part.results
        runs: dict[tuple[str, str], list[MeasuredRun]] = {}
        for planned_run in experiment.all_runs():
            content = results.readable(planned_run)
            run = MeasuredRun(planned_run, content, owners(experiment, planned_run))
            runs.setdefault((planned_run.path, planned_run.scheme), []).append(run)
        for path in experiment.paths.values():
            cell = experiment.cells.get(path.name)
            listed_flows = experiment.listed_flows(path.name)
            own_plans = tuple(number for number, flow in enumerate(listed_flows, 1) if not flow.scheme)
            yield MeasuredCell(
                path=path,
                base=cell.base if cell else path.name,
                axis_values=cell.axis_values if cell else {},
                places=self._places(path.name, cell.base) if cell else {},
                plans={label: tuple(experiment.flow_plans(label, path.name)) for label in self.labels},
                ours=own_plans if listed_flows else None,
                endless=frozenset(label for label in self.labels if self._endless(label, path.name)),
                runs={label: tuple(runs[path.name, label]) for label in self.labels},
            )

    def _endless(self, label: str, path: str) -> bool:
        schemes = self.experiment.schemes
        plans = self.experiment.flow_plans(label, path)
        return all((plan.application or schemes[plan.scheme].application) == GREEDY for plan in plans)

    def _places(self, name: str, base: str) -> dict[str, str]:
        """Return the values of the grid's axes from the name of a cell."""
        axes = [axis.name for axis in self.part.experiment_file.grid]
        pattern = "".join(rf"\.{re.escape(axis)}-(.*)" for axis in axes)
        match = re.fullmatch(re.escape(base) + pattern, name)
        if match is None:
            raise UserError(
                f"{self.part.results.directory}: cell `{name}` is none of the experiment `{self.name}` as it is now: "
                "make the benchmark again"
            )
        return dict(zip(axes, match.groups(), strict=True))

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Axes in which the cells differ; the path alone for a single cell."""
        axes = [PATH, *(axis.name for axis in self.part.experiment_file.grid)]
        return tuple(axis for axis in axes if len({cell.place(axis) for cell in self.cells}) > 1) or (PATH,)

    @property
    def all_runs(self) -> list[MeasuredRun]:
        """Every run, cell by cell."""
        return [run for cell in self.cells for label in self.labels for run in cell.runs[label]]

    @property
    def unsuccessful(self) -> list[MeasuredRun]:
        """Runs that are missing, failed or do not count."""
        return [run for run in self.all_runs if not run.good]

    @cached_property
    def metrics(self) -> dict[str, tuple[Metric, ...]]:
        """Metrics of the experiment's page, by level."""
        membership = self.membership
        names = {"network": membership.network, "flow": membership.flow, "link": membership.link}
        return {
            level: tuple(self.judged(metric(level, name)) for name in level_names or USUAL[level])
            for level, level_names in names.items()
        }

    def judged(self, quantity: Metric) -> Metric:
        """Return the metric with the direction in which this experiment judges it."""
        neutral = quantity.name in self.membership.neutral
        return replace(quantity, neutral=neutral, better=NEITHER if neutral else quantity.better)

    @cached_property
    def headline(self) -> Metric:
        """Headline metric of the experiment: the first of its metrics that is a share and better if larger.

        A share can be averaged over different paths. Without such a metric, the first one is the headline.
        """
        membership = self.membership
        keys = [("network", name) for name in membership.network] + [("flow", name) for name in membership.flow]
        keys += [("link", name) for name in membership.link]
        metrics = [self.judged(metric(*key)) for key in keys] or list(self.metrics["network"])
        shares = (candidate for candidate in metrics if candidate.better == MORE and not candidate.unit)
        return next(shares, metrics[0])

    def means_of(self, label: str, quantity: Metric) -> list[tuple[MeasuredCell, float]]:
        """Return a metric in each cell that has it, as the mean over its runs."""
        if label not in self.labels:
            return []
        cell_values = ((cell, cell.values(label, quantity)) for cell in self.cells)
        return [(cell, sum(values) / len(values)) for cell, values in cell_values if values]

    def comparable(self, labels: Sequence[str], quantity: Metric) -> bool:
        """Return False if means of the labels are over different cells or different transfers."""
        counts = {len(means) for label in labels if (means := self.means_of(label, quantity))}
        return len(counts) == 1 and not any(
            rivals(self.cells, [label for label in labels if label in self.labels], quantity)
        )


class MeasuredBenchmark:
    """All experiments of a benchmark, and their schemes."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.experiments = tuple(MeasuredExperiment(part, number) for number, part in enumerate(benchmark.parts, 1))
        schemes = {
            name: scheme for experiment in self.experiments for name, scheme in experiment.experiment.schemes.items()
        }
        self.examined = tuple(name for name in benchmark.schemes if name in schemes)
        self.schemes = {name: schemes[name] for name in dict.fromkeys([*self.examined, *schemes])}
        self.titles = {name: scheme.title for name, scheme in self.schemes.items()}

    def title(self, scheme: str) -> str:
        """Return the scheme's title."""
        return self.titles.get(scheme, scheme)

    def find(self, experiment: str) -> MeasuredExperiment | None:
        """Return the experiment of that name, or None if it is not part of this benchmark."""
        return next((candidate for candidate in self.experiments if candidate.name == experiment), None)
