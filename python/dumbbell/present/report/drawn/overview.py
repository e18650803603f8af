"""Throughput over delay on each path of a report: the mean of each scheme, and every run."""

from dataclasses import dataclass, replace
from functools import cached_property

from dumbbell.present.plots import (
    FEW,
    Limits,
    Point,
    delay_axis,
    delay_range,
    pareto_front,
    spans_widely,
    summary_figure,
)
from dumbbell.present.report.content import ReportModel
from dumbbell.present.report.words.wording import figure_title
from dumbbell.results.analysis.summary import Estimate, repetitions

FAMILIAR = ("cubic", "bbr", "reno", "vegas", "copa")
"""Schemes that every reader knows: the ones to look for in a crowd, named in it."""

BOUNDS = {"confidence": "95 % interval of the mean", "range": "range of the runs"}
"""What bars are, by where a mean lies."""

LATE = (
    "Hollow: late runs, for which the machine of the test was too busy to keep the path's times; they count in no mean "
    "but that of schemes without a run in time."
)

_LISTED = 3  # paths
_DELAY, _THROUGHPUT = ("network", 0, "delay_p95_ms"), ("network", 0, "throughput_mbps")


@dataclass(frozen=True)
class Mean:
    """A scheme on a path: the means over its runs."""

    scheme: str
    delay_ms: Estimate
    throughput_mbps: Estimate
    in_front: bool = False
    late: bool = False


class Overview:
    """The two figures of every path. Their delay axes are of the same kind: logarithmic if one path needs that."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model
        self.means = {path.name: self._means(path.name) for path in model.paths}

    @cached_property
    def wide(self) -> list[str]:
        """The paths whose delays need a logarithmic axis."""
        return [
            path.heading
            for path in self.model.paths
            if any(spans_widely(point.delay_ms for point in self.points(kind, path.name)) for kind in ("means", "runs"))
        ]

    def draw(self, kind: str, path: str, name: str) -> str:
        """One of the figures, `means` or `runs`, as SVG; identifiers start with `name`. Nothing without points."""
        points = self.points(kind, path)
        if not points:
            return ""
        axis = delay_axis(self._delays(kind, path), logarithmic=bool(self.wide))
        title = self._title(path)
        if kind == "means":
            title += " (mean of all runs by scheme)"
        return summary_figure(name, title, points, axis, self.limits(path), kind == "means", self.bars(path))

    def points(self, kind: str, path: str) -> list[Point]:
        """What is drawn."""
        return self._mean_points(path) if kind == "means" else self._run_points(path)

    def is_keyed(self, path: str) -> bool:
        """Whether the figures of the path need the width of a page, for a key of all schemes below the plot."""
        return len({point.name for point in self.points("runs", path)}) > FEW

    def caption(self, path: str) -> str:
        """What readers of the figures have to know, or why there are none."""
        if not self.points("runs", path):
            return "No figure: none of the runs that count has both a throughput and a one-way delay."
        limits = self.limits(path)
        parts = ["Up and right is better."]
        if any(run.late for run in self.model.of(path)):
            parts.append(LATE)
        if limits.capacity_mbps and limits.least_delay_ms is not None:
            parts.append("No scheme can get beyond the dashed line (capacity) and the dotted one (least delay).")
        if any(mean.in_front for mean in self.means[path]):
            names = (
                "; they are in bold in the key, the other schemes have their markers only"
                if self.is_keyed(path)
                else ""
            )
            parts.append(f"No scheme beats those on the thin line in both throughput and delay (Pareto front){names}.")
        if self.bars(path):
            parts.append(f"Bars: {self.bars(path)}.")
        parts += self._clocks(path)
        if self.wide:
            others = len(self.model.paths) > 1
            because = f", since the delays on {_listed(self.wide)} span more than a factor of four" if others else ""
            parts.append(f"The delay axis is logarithmic{' on every path' if others else ''}{because}.")
        return " ".join(parts)

    def _clocks(self, path: str) -> list[str]:
        """How far the delays may be off that two clocks measured."""
        shifts = [
            (mean.delay_ms.clocks[0] - mean.delay_ms.mean, mean.delay_ms.clocks[1] - mean.delay_ms.mean)
            for mean in self.means[path]
            if mean.delay_ms.clocks
        ]
        if not shifts:
            return []
        low, high = min(low for low, _ in shifts), max(high for _, high in shifts)
        return [f"Delays are as the clocks state them: the true ones lie {low:+.2f} to {high:+.2f} ms from there."]

    def bars(self, path: str) -> str:
        """What the bars of the means are."""
        estimates = [each for mean in self.means[path] for each in (mean.delay_ms, mean.throughput_mbps)]
        found = [what for bounds, what in BOUNDS.items() if any(each.bounds == bounds for each in estimates)]
        return " or, of few runs, ".join(found)

    def limits(self, path: str) -> Limits:
        """What no scheme can exceed there: the capacity in the runs, and the least delay of any packet."""
        every = self.model.of(path)
        runs = [run for run in every if run.good] or [run for run in every if run.late]
        capacities = [
            run.links[0].get("capacity_mbps") if run.links else run.network.get("capacity_mbps") for run in runs
        ]
        known = [capacity for capacity in capacities if capacity]
        entry = next(each for each in self.model.paths if each.name == path)
        least = [flow.get("owd_min_ms") for run in runs for flow in run.flows]
        delays = [delay for delay in (entry.least_delay_ms, *least) if delay is not None]
        return Limits((min(known), max(known)) if known else None, min(delays, default=None) if runs else None)

    def _means(self, path: str) -> list[Mean]:
        found = []
        runs = self.model.of(path)
        for (_, scheme), group in repetitions(run.content for run in runs).items():
            late = group.good == 0 and any(run.late for run in runs if run.scheme == scheme)
            if late:
                own = (run.content | {"status": "done"} for run in runs if run.late and run.scheme == scheme)
                group = next(iter(repetitions(own).values()))
            delay, throughput = group.estimate(_DELAY), group.estimate(_THROUGHPUT)
            if delay and throughput:
                found.append(Mean(scheme, delay, throughput, late=late))
        in_time = [mean for mean in found if not mean.late]
        front = pareto_front([(mean.delay_ms.mean, mean.throughput_mbps.mean) for mean in in_time])
        in_front = [in_time[index].scheme for index in front]
        return [replace(mean, in_front=mean.scheme in in_front) for mean in found]

    def _mean_points(self, path: str) -> list[Point]:
        points = []
        means = self.means[path]
        for mean in means:
            delay, throughput = mean.delay_ms, mean.throughput_mbps
            points.append(
                replace(
                    self._point(
                        mean.scheme, delay.mean, throughput.mean, f"mean of {throughput.count} runs", mean.late
                    ),
                    delay_interval=_interval(delay),
                    throughput_interval=_interval(throughput),
                    named=len(means) <= FEW or mean.scheme in FAMILIAR,
                    in_front=mean.in_front,
                )
            )
        return points

    def _run_points(self, path: str) -> list[Point]:
        points = []
        for run in self.model.of(path):
            delay, throughput = run.network.get("delay_p95_ms"), run.network.get("throughput_mbps")
            if (run.good or run.late) and delay is not None and throughput is not None:
                points.append(self._point(run.scheme, delay, throughput, f"run {run.number}", run.late))
        return points

    def _delays(self, kind: str, path: str) -> list[float]:
        return delay_range(self.points(kind, path), self.limits(path))

    def _point(self, scheme: str, delay_ms: float, throughput_mbps: float, what: str, late: bool) -> Point:
        title = self.model.scheme_title(scheme) + (" (late)" if late else "")
        hover = f"{title}, {what}: {throughput_mbps:.2f} Mbit/s, {delay_ms:.1f} ms"
        return Point(title, delay_ms, throughput_mbps, replace(self.model.styles[scheme], hollow=late), hover)

    def _title(self, path: str) -> str:
        model = self.model
        heading = next(each.heading for each in model.paths if each.name == path)
        return figure_title(
            model.backend,
            heading,
            model.runs_per_scheme,
            model.duration_s,
            model.flows,
            model.interval_s,
            model.even_flows,
        )


def _listed(names: list[str]) -> str:
    shown = names if len(names) <= _LISTED else [*names[:_LISTED], f"{len(names) - _LISTED} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _interval(estimate: Estimate) -> tuple[float, float] | None:
    """Its ends; nothing of a single run, and of runs with one and the same value."""
    if estimate.bounds not in BOUNDS or estimate.low is None or estimate.high is None:
        return None
    return (estimate.low, estimate.high)
