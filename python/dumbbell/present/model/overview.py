"""Planes of two metrics on each path of a report: the mean of each scheme, and every run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.catalog.families import family
from dumbbell.present.model.content import ReportModel, RunEntry
from dumbbell.present.model.figure_metrics import FigureMetric, convention_note, main_metric
from dumbbell.present.model.words.wording import figure_title
from dumbbell.present.plots import (
    RATE,
    Limits,
    PlaneAxis,
    Point,
    delay_axis,
    extent,
    is_crowd,
    spans_widely,
    summary_figure,
    value_axis,
)
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.results.analysis.front import pareto_front
from dumbbell.results.analysis.summary import Estimate, Repetitions, repetitions

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

BOUNDS = {"confidence": "nominal 95 % interval of the mean", "range": "range of the runs"}
"""Meaning of the bars of a mean, by the kind of its bounds."""

LATE = (
    "Hollow: late runs, for which the machine of the test was too busy to keep the path's times; they count in no mean "
    "but that of schemes without a run in time."
)

_LISTED = 3  # paths
_RATES = ("throughput_mbps", "goodput_mbps")
_DELAYS = ("delay_p95_ms", "owd_p50_ms", "owd_p95_ms", "owd_p99_ms")


@dataclass(frozen=True)
class Mean:
    """Means of a scheme's runs on a path, in the units that figures show."""

    scheme: str
    x: Estimate
    y: Estimate
    in_front: bool = False
    late: bool = False


class Overview:
    """The two figures of every path: throughput over delay, unless other metrics are given.

    All delay axes are logarithmic if one path needs that. Without `schemes` the figures show all schemes. On a path
    with runs of single schemes they leave out mixes, since a sum over schemes does not compare with one scheme.
    """

    def __init__(
        self,
        model: ReportModel,
        x: FigureMetric | None = None,
        y: FigureMetric | None = None,
        schemes: Collection[str] = (),
    ) -> None:
        self.model = model
        self.x = x or main_metric(model.convention.delay, model.convention)
        self.y = y or main_metric(model.convention.throughput, model.convention)
        self.schemes = schemes
        self._points: dict[tuple[str, str], list[Point]] = {}
        self.means = {path.name: self._means(path.name) for path in model.paths}

    @property
    def title(self) -> str:
        """Return the titles of both metrics: `goodput over p95 one-way delay`."""
        return f"{self.y.title} over {self.x.title}"

    @cached_property
    def wide(self) -> list[str]:
        """Headings of the paths that need a logarithmic delay axis."""
        if not self.x.is_delay:
            return []
        return [
            path.heading
            for path in self.model.paths
            if any(spans_widely(point.x for point in self.points(kind, path.name)) for kind in ("means", "runs"))
        ]

    def draw(self, kind: str, path: str, name: str) -> str:
        """Return one of the figures, `means` or `runs`, as SVG; empty without points.

        Identifiers start with `name`. On a sheet of paper the title is in the caption, except the convention.
        """
        points = self.points(kind, path)
        if not points:
            return ""
        title = self._title(path) + (" (mean of all runs by scheme)" if kind == "means" else "")
        lines = [*([] if sheet().width_pt else [title]), convention_note((self.y, self.x))]
        title = "\n".join(filter(None, lines))
        limits = self._drawn_limits(path)
        return summary_figure(name, title, points, self._axes(points, limits), limits, kind == "means", self.bars(path))

    def _axes(self, points: Sequence[Point], limits: Limits) -> tuple[PlaneAxis, PlaneAxis]:
        least, capacities_mbps = limits.least_delay_ms, limits.capacity_mbps or ()
        across = extent(points, False, [] if least is None else [least])
        upwards = extent(points, True, capacities_mbps)
        if self.x.is_delay:
            scale = delay_axis(across, logarithmic=bool(self.wide))
            x = PlaneAxis(self.x.axis, scale, is_reversed=self.x.better == "less")
        else:
            x = value_axis(self.x.axis, across, self.x.better == "less")
        y = value_axis(self.y.axis, upwards, self.y.better == "less", linear=self.y.unit == RATE)
        return x, y

    def points(self, kind: str, path: str) -> list[Point]:
        """Return the points of a figure."""
        if (kind, path) not in self._points:
            self._points[kind, path] = self._mean_points(path) if kind == "means" else self._run_points(path)
        return self._points[kind, path]

    def is_wide(self, path: str) -> bool:
        """Return True if the figures of the path need the width of a page, since they have many schemes."""
        return is_crowd(self.points("runs", path))

    def caption(self, path: str) -> str:
        """Return the caption of the figures on a page, or the reason why there are no figures."""
        if not self.points("runs", path):
            return f"No figure: none of the runs that count has both {self.y.title} and {self.x.title}."
        return f"{self.model.convention.sentence()} {self.explanation(path)}"

    def explanation(self, path: str) -> str:
        """Return the meaning of the lines, bars and axes of the figures, in sentences."""
        points = self.points("runs", path)
        limits = self._drawn_limits(path)
        mixes = () if self.schemes else self.model.mixes_beside_singles[path]
        parts = ["Schemes by themselves, without mixes."] if mixes else []
        if all(metric.better != "neutral" for metric in (self.x, self.y)):
            parts.append("Up and right is better.")
        if any(run.late for run in self.model.of(path)):
            parts.append(LATE)
        if limits.capacity_mbps and not limits.steady:
            parts.append(
                "The dashed line is the mean capacity of the whole run, headers included: the counted seconds may have "
                "more or less."
            )
        elif limits.capacity_mbps and limits.least_delay_ms is not None:
            lines = "the dashed line (capacity, headers included) and the dotted one (least delay)"
            parts.append(f"No scheme can get beyond {lines}.")
        front = [mean.scheme for mean in self.means[path] if mean.in_front]
        if front:
            names = (
                "; they have their names, the other schemes are grey, with an edge in the colour of their family"
                if is_crowd(points)
                else ""
            )
            metric_titles = f"{self.y.title} and {self.x.title}"
            winners = "those on the pale line" if len(front) > 1 else self.model.scheme_title(front[0])
            parts.append(f"No scheme beats {winners} in both {metric_titles} (Pareto front){names}.")
        if self.bars(path):
            parts.append(f"Bars: {self.bars(path)}.")
        parts += self._clocks(path)
        if self.wide:
            is_one_of_many = len(self.model.paths) > 1
            because = (
                f", since the delays on {_listed(self.wide)} span more than a factor of four" if is_one_of_many else ""
            )
            parts.append(f"The delay axis is logarithmic{' on every path' if is_one_of_many else ''}{because}.")
        return " ".join(parts)

    def _clocks(self, path: str) -> list[str]:
        """Return a list with a sentence on the error of delays between two clocks, or an empty list."""
        shifts = [
            (mean.x.clocks[0] - mean.x.mean, mean.x.clocks[1] - mean.x.mean)
            for mean in self.means[path]
            if mean.x.clocks
        ]
        if not shifts:
            return []
        low, high = min(low for low, _ in shifts), max(high for _, high in shifts)
        return [f"Delays are as the clocks state them: the true ones lie {low:+.2f} to {high:+.2f} ms from there."]

    def bars(self, path: str) -> str:
        """Return the meaning of the bars of the means."""
        return bars_text(estimate for mean in self.means[path] for estimate in (mean.x, mean.y))

    def limits(self, path: str) -> Limits:
        """Return the limits of all schemes on a path: the capacity in the runs, and the least delay of any packet."""
        every = self.model.of(path)
        runs = [run for run in every if run.good] or [run for run in every if run.late]
        capacities = [
            run.links[0].get("capacity_mbps") if run.links else run.network.get("capacity_mbps") for run in runs
        ]
        positive_mbps = [capacity for capacity in capacities if capacity]
        entry = next(path_entry for path_entry in self.model.paths if path_entry.name == path)
        least = [flow.get("owd_min_ms") for run in runs for flow in run.flows]
        delays = [delay for delay in (entry.least_delay_ms, *least) if delay is not None]
        capacity = (min(positive_mbps), max(positive_mbps)) if positive_mbps else None
        return Limits(capacity, min(delays, default=None) if runs else None, entry.steady)

    def _drawn_limits(self, path: str) -> Limits:
        """Return the limits that concern the drawn metrics."""
        limits = self.limits(path)
        return Limits(
            limits.capacity_mbps if self.y.key in _RATES else None,
            limits.least_delay_ms if self.x.key in _DELAYS else None,
            limits.steady,
        )

    def _shown_runs(self, path: str) -> list[RunEntry]:
        if self.schemes:
            return [run for run in self.model.of(path) if run.scheme in self.schemes]
        return [run for run in self.model.of(path) if run.scheme not in self.model.mixes_beside_singles[path]]

    def _means(self, path: str) -> list[Mean]:
        means = []
        runs = self._shown_runs(path)
        for scheme in dict.fromkeys(run.scheme for run in runs):
            group = self.model.groups[path, scheme]
            scheme_runs = [run for run in runs if run.scheme == scheme]
            late = group.good == 0 and any(run.late for run in scheme_runs)
            counting_runs = [
                run.content | {"status": "done"} for run in scheme_runs if (run.late if late else run.good)
            ]
            if late:
                group = next(iter(repetitions(counting_runs).values()))
            x, y = self._estimates(group, counting_runs)
            if x and y:
                means.append(Mean(scheme, x, y, late=late))
        in_time = [mean for mean in means if not mean.late]
        signs = [{"less": 1.0, "more": -1.0}.get(metric.better, 0.0) for metric in (self.x, self.y)]
        if 0.0 in signs:
            return means  # with a metric that is neither good nor bad, no scheme is in front
        front = pareto_front([(signs[0] * mean.x.mean, -signs[1] * mean.y.mean) for mean in in_time])
        in_front = [in_time[index].scheme for index in front]
        return [replace(mean, in_front=mean.scheme in in_front) for mean in means]

    def _estimates(self, group: Repetitions, runs: Sequence[RunTable]) -> tuple[Estimate | None, Estimate | None]:
        return self.x.estimate(group, runs), self.y.estimate(group, runs)

    def _mean_points(self, path: str) -> list[Point]:
        return [
            replace(
                self._point(mean.scheme, mean.x.mean, mean.y.mean, f"mean of {mean.y.count} runs", mean.late),
                x_interval=interval(mean.x),
                y_interval=interval(mean.y),
                in_front=mean.in_front,
            )
            for mean in self.means[path]
        ]

    def _run_points(self, path: str) -> list[Point]:
        points = []
        for run in self._shown_runs(path):
            x, y = self.x.value(run.content), self.y.value(run.content)
            if (run.good or run.late) and x is not None and y is not None:
                points.append(self._point(run.scheme, x, y, f"run {run.number}", run.late))
        return points

    def _point(self, scheme: str, x: float, y: float, sample: str, late: bool) -> Point:
        title = self.model.scheme_title(scheme) + (" (late)" if late else "")
        hover = f"{title}, {sample}: {self.y.text(y)}, {self.x.text(x)}"
        look = self.model.styles[scheme]
        look = replace(look, hollow=True) if late else look
        return Point(title, x, y, look, hover, scheme=scheme, family=family(scheme) or "other")

    def _title(self, path: str) -> str:
        model = self.model
        heading = next(entry.heading for entry in model.paths if entry.name == path)
        return figure_title(
            model.backend,
            heading,
            model.runs_per_scheme,
            model.duration_s,
            max((len(run.flows) for run in self._shown_runs(path)), default=0) or model.flows,
            model.interval_s,
            model.even_flows,
        )


def _listed(names: list[str]) -> str:
    parts = names if len(names) <= _LISTED else [*names[:_LISTED], f"{len(names) - _LISTED} others"]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def bars_text(estimates: Iterable[Estimate]) -> str:
    """Return the meaning of the bars of means; empty if no mean has a bar."""
    kinds = {estimate.bounds for estimate in estimates}
    return " or, of few runs, ".join(meaning for bounds, meaning in BOUNDS.items() if bounds in kinds)


def interval(estimate: Estimate) -> tuple[float, float] | None:
    """Return the ends of the interval; None for a single run, and for runs with equal values."""
    if estimate.bounds not in BOUNDS or estimate.low is None or estimate.high is None:
        return None
    return (estimate.low, estimate.high)
