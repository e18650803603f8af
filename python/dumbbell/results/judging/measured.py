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
"""The axis of an experiment that is not one of its grid."""

_UNFINISHED = 0.05
"""Part of the transfers that may be unfinished where completion times are compared."""

_COMPLETION = re.compile(r"^fct_(?!incomplete)|completion_time")


@dataclass(frozen=True)
class MeasuredRun:
    """One run: as planned, and as in `show --json`. `owners` are the numbers of the plans its flows are made by.

    `folder` is relative to the results of its experiment.
    """

    planned: Planned
    content: RunTable
    owners: tuple[int, ...]

    def flows(self, plans: Container[int]) -> list[FlowStats]:
        """The statistics of the flows of some plans, by their numbers."""
        return [flow for flow, owner in zip(self.content["flows"], self.owners, strict=False) if owner in plans]

    @property
    def good(self) -> bool:
        """Whether its numbers count."""
        return bool(self.content["status"] == _GOOD)

    @property
    def folder(self) -> str:
        """Where its files are."""
        return str(self.content["directory"])


@dataclass(frozen=True)
class Flows:
    """The flows of some plans of a label. Their metric becomes one number, the mean."""

    label: str
    plans: tuple[int, ...]


@dataclass(frozen=True)
class MeasuredCell:
    """One cell of an experiment: a path with the axis values that made it, and its runs by label."""

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
        """The name of its path in results."""
        return self.path.name

    def label(self, axes: Sequence[str]) -> str:
        """Its name for people among cells that differ in `axes`."""
        return ", ".join(self.place(axis) if axis == PATH else f"{axis} {self.place(axis)}" for axis in axes)

    def place(self, axis: str) -> str:
        """Its value on an axis of the experiment; the path counts as one."""
        return self.base if axis == PATH else self.places[axis]

    @property
    def bottleneck(self) -> str:
        """The link of the data direction that can carry least."""
        bottleneck = self.path.describe().bottleneck
        return bottleneck.name if bottleneck else ""

    def finite(self, label: str) -> bool:
        """Whether a flow of the label may end or pause by itself."""
        return label not in self.endless

    def good(self, label: str) -> list[MeasuredRun]:
        """The runs of a label whose numbers count."""
        return [run for run in self.runs.get(label, ()) if run.good]

    def ours_of(self, label: str) -> tuple[int, ...]:
        """Numbers of the plans of flows under test: those for which the experiment names no other scheme."""
        return self.ours or tuple(range(1, len(self.plans[label]) + 1))

    def theirs_of(self, label: str) -> tuple[int, ...]:
        """Numbers of the plans of other flows."""
        ours = self.ours_of(label)
        return tuple(number for number in range(1, len(self.plans[label]) + 1) if number not in ours)

    def finishes(self, label: str) -> bool:
        """Whether nearly every transfer of the label with an end reached it: the times of some alone flatter.

        Those that begin just before the end of a run never do.
        """
        networks = [run.content["network"] for run in self.good(label)]
        begun = sum(entry["flows"] for network in networks for entry in network.get("completions") or [])
        unfinished = sum(value_of(network, "fct_incomplete") or 0.0 for network in networks)
        return bool(unfinished <= _UNFINISHED * begun)

    def flow_values(self, flows: Flows, name: str) -> list[float]:
        """The metric of each run that has it."""
        found = []
        for run in self.good(flows.label):
            each = [value_of(flow, name) for flow in run.flows(flows.plans)]
            known = [value for value in each if value is not None]
            if known:
                found.append(sum(known) / len(known))
        return found

    def values(self, label: str, metric: Metric, link: str = "") -> list[float]:
        """A metric of each run: of the network, the mean over our flows, of `link` (else of the bottleneck)."""
        found = (self.value(label, run, metric, link) for run in self.good(label))
        return [value for value in found if value is not None]

    def value(self, label: str, run: MeasuredRun, metric: Metric, link: str = "") -> float | None:
        """The same of one run; None if it has none."""
        if metric.level == "flow":
            each = (value_of(flow, metric.name) for flow in run.flows(self.ours_of(label)))
            known = [value for value in each if value is not None]
            return sum(known) / len(known) if known else None
        return value_of(
            link_of(run, link or self.bottleneck) if metric.level == "link" else run.content["network"], metric.name
        )

    def estimate(self, label: str, metric: Metric, link: str = "") -> Estimate | None:
        """The mean over the runs, with its interval."""
        return estimate(self.values(label, metric, link))


USUAL = {
    "network": ("mean_agg_utilization_bw_l4", "owd_p95_ms", "packet_loss_rate", "mean_jains_fairness_throughput_l4"),
    "flow": ("mean_throughput_l4", "mean_srtt_l4", "owd_p95_ms", "packet_loss_rate", "total_retransmissions_l4"),
    "link": ("mean_qdisc_delay_l2", "mean_qdisc_length_l2", "total_qdisc_drops_l2"),
}
"""The metrics of an experiment that names none of a level."""


def is_many(plan: FlowPlan) -> bool:
    """Whether a plan stands for several flows."""
    return bool(plan.arrivals) or plan.count != 1


def owners(experiment: Experiment, run: Planned) -> tuple[int, ...]:
    """For each flow of a run, the number of the plan that it is made by."""
    plans = experiment.flow_plans(run.scheme, run.path)
    if not any(map(is_many, plans)):
        return tuple(range(1, len(plans) + 1))
    end_s = experiment.duration_s - experiment.start_spread_ms / 1e3
    found: list[int] = []
    for number in range(1, len(plans) + 1):
        found += [number] * (len(expand(plans[:number], run.seed, end_s)) - len(found))
    return tuple(found)


def link_of(run: MeasuredRun, name: str) -> Mapping[str, object]:
    """The statistics of a link of a run; nothing if it has no such link. Their order is not that of the path."""
    return next((link for link in run.content["links"] if link.get("link") == name), {})


def estimate(values: list[float]) -> Estimate | None:
    """The mean of values, if there are any."""
    return Estimate.of(values) if values else None


def rivals(cells: Sequence[MeasuredCell], labels: Sequence[str], metric: Metric) -> list[str]:
    """Which labels compare in a metric: equal ones do. Who left many transfers unfinished has no completion times."""
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
        for planned in experiment.all_runs():
            content = results.readable(planned)
            run = MeasuredRun(planned, content, owners(experiment, planned))
            runs.setdefault((planned.path, planned.scheme), []).append(run)
        for path in experiment.paths.values():
            cell = experiment.cells.get(path.name)
            listed = experiment.listed_flows(path.name)
            ours = tuple(number for number, flow in enumerate(listed, 1) if not flow.scheme)
            yield MeasuredCell(
                path=path,
                base=cell.base if cell else path.name,
                axis_values=cell.axis_values if cell else {},
                places=self._places(path.name, cell.base) if cell else {},
                plans={label: tuple(experiment.flow_plans(label, path.name)) for label in self.labels},
                ours=ours if listed else None,
                endless=frozenset(label for label in self.labels if self._endless(label, path.name)),
                runs={label: tuple(runs[path.name, label]) for label in self.labels},
            )

    def _endless(self, label: str, path: str) -> bool:
        schemes = self.experiment.schemes
        plans = self.experiment.flow_plans(label, path)
        return all((plan.application or schemes[plan.scheme].application) == GREEDY for plan in plans)

    def _places(self, name: str, base: str) -> dict[str, str]:
        """The values of the grid's axes in the name of a cell."""
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
        """What its cells differ in; the path alone if there is but one cell."""
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
        """The metrics its page shows, by level."""
        membership = self.membership
        names = {"network": membership.network, "flow": membership.flow, "link": membership.link}
        return {
            level: tuple(self.judged(metric(level, name)) for name in found or USUAL[level])
            for level, found in names.items()
        }

    def judged(self, each: Metric) -> Metric:
        """The metric as this experiment judges it."""
        neutral = each.name in self.membership.neutral
        return replace(each, neutral=neutral, better=NEITHER if neutral else each.better)

    @cached_property
    def headline(self) -> Metric:
        """The metric that stands for the experiment: of those it names, the first share that had better be large.

        A share can be averaged over different paths. Without one it is the first metric.
        """
        membership = self.membership
        named = [("network", name) for name in membership.network] + [("flow", name) for name in membership.flow]
        named += [("link", name) for name in membership.link]
        metrics = [self.judged(metric(*key)) for key in named] or list(self.metrics["network"])
        shares = (each for each in metrics if each.better == MORE and not each.unit)
        return next(shares, metrics[0])

    def means_of(self, label: str, each: Metric) -> list[tuple[MeasuredCell, float]]:
        """A metric in each cell that has it, as the mean over its runs."""
        if label not in self.labels:
            return []
        found = ((cell, cell.values(label, each)) for cell in self.cells)
        return [(cell, sum(values) / len(values)) for cell, values in found if values]

    def comparable(self, labels: Sequence[str], each: Metric) -> bool:
        """Return False if means of the labels are over different cells or different transfers."""
        counts = {len(found) for label in labels if (found := self.means_of(label, each))}
        return len(counts) == 1 and not any(
            rivals(self.cells, [label for label in labels if label in self.labels], each)
        )


class MeasuredBenchmark:
    """All experiments of a benchmark, and the schemes in them."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.experiments = tuple(MeasuredExperiment(part, number) for number, part in enumerate(benchmark.parts, 1))
        known = {name: scheme for found in self.experiments for name, scheme in found.experiment.schemes.items()}
        self.examined = tuple(name for name in benchmark.schemes if name in known)
        self.schemes = {name: known[name] for name in dict.fromkeys([*self.examined, *known])}
        self.titles = {name: scheme.title for name, scheme in self.schemes.items()}

    def title(self, scheme: str) -> str:
        """How people call the scheme."""
        return self.titles.get(scheme, scheme)

    def find(self, experiment: str) -> MeasuredExperiment | None:
        """The experiment of that name, if it is part of this benchmark."""
        return next((found for found in self.experiments if found.name == experiment), None)
