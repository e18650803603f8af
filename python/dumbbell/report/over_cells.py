"""Figures of the cells of a grid: metrics along one axis, the use of the link over two, shares in pairs of schemes."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dumbbell.errors import UserError
from dumbbell.figures import (
    Ellipse,
    MapAxis,
    PlanePoint,
    SweepLine,
    SweepPanel,
    heatmap_figure,
    matrix_figure,
    plane_figure,
    scheme_strokes,
    sweep_figure,
)
from dumbbell.report.model import ReportModel, RunEntry
from dumbbell.report.tables import PANTHEON

KINDS = {
    "sweep": "throughput, delay and loss of each scheme along the last axis of a grid",
    "grid": "use of the bottleneck by a scheme over the last two axes of a grid",
    "pairs": "what each scheme gets beside each other one",
}
"""The figures of cells. A path chooses one cell: what else varies stays as it is there."""

ELLIPSES = "throughput over RTT: flows of each scheme, with an ellipse of one standard deviation"

_LABELS = {"throughput_mbps": "Throughput (Mbit/s)", "delay_p95_ms": "95th % delay (ms)", "loss_rate": "Loss (%)"}
_FACTORS = {metric.key: metric.factor for metric in PANTHEON} | {"utilization": 100.0}


@dataclass(frozen=True)
class Shown:
    """A figure and its numbers: columns with their kinds, and rows."""

    drawing: str
    columns: dict[str, str]
    rows: list[list[object]]


class OverCells:
    """The good runs of a results directory, by cell."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model

    @cached_property
    def _axes(self) -> dict[str, dict[str, Any]]:
        """What is varied, by cell; tables' keys count as axes."""
        return {run.path: run.content.get("axes") or {"path": run.path} for run in self.model.runs}

    def _along(self, kind: str, path: str | None, free: Sequence[str]) -> list[RunEntry]:
        """The good runs in the cells that differ from `path` in `free` axes only.

        Raises:
            UserError: without a path, where that would leave cells out.
        """
        cell = path or next(iter(self._axes))
        fixed = {name: value for name, value in self._axes[cell].items() if name not in free}
        names = [
            name
            for name, axes in self._axes.items()
            if {key: value for key, value in axes.items() if key not in free} == fixed
        ]
        if path is None and len(names) < len(self._axes):
            others = next(name for name in self._axes if name not in names)
            raise UserError(
                f"figure `{kind}`: other axes vary too: choose a cell by its path, such as `{cell}` or `{others}`"
            )
        return [run for name in names for run in self.model.of(name) if run.good]

    def _quantities(self, kind: str, count: int) -> list[str]:
        """The last axes, at least so many, along which numbers vary.

        Raises:
            UserError: there are fewer.
        """
        values: dict[str, set[float]] = {}
        for axes in self._axes.values():
            for name, value in axes.items():
                if isinstance(value, int | float):
                    values.setdefault(name, set()).add(float(value))
        varied = [name for name, found in values.items() if len(found) > 1]
        if len(varied) < count:
            wanted = "an axis" if count == 1 else f"{count} axes"
            raise UserError(f"figure `{kind}`: is of experiments with a grid: {wanted} of numbers that vary")
        return varied[-count:]

    def draw(self, kind: str, name: str, path: str | None, scheme: str | None) -> Shown:
        """One of `KINDS`; `scheme` is for the map alone.

        Raises:
            UserError: the results have nothing of it, or it has to be said of which cell or scheme.
        """
        if kind == "grid":
            return self._grid(name, path, scheme)
        if scheme is not None:
            raise UserError(f"figure `{kind}`: is of all schemes: give `path` only")
        return self._sweep(name, path) if kind == "sweep" else self._pairs(name, path)

    def _sweep(self, name: str, path: str | None) -> Shown:
        (axis,) = self._quantities("sweep", 1)
        runs = self._along("sweep", path, (axis,))
        values = sorted({float(self._axes[run.path][axis]) for run in runs})
        strokes = scheme_strokes([self.model.styles[scheme.name] for scheme in self.model.schemes])
        panels, rows = [], list[list[object]]()
        for metric, label in _LABELS.items():
            lines = []
            for scheme, stroke in zip(self.model.schemes, strokes, strict=True):
                means = [
                    _mean(
                        _scaled(metric, run.content["network"][metric])
                        for run in runs
                        if run.scheme == scheme.name and self._axes[run.path][axis] == value
                    )
                    for value in values
                ]
                lines.append(SweepLine(scheme.title, stroke, means))
                rows += [[scheme.name, axis, value, metric, mean] for value, mean in zip(values, means, strict=True)]
            panels.append(SweepPanel(label, lines))
        columns = {"scheme": "text", "axis": "text", "value": "number", "metric": "text", "mean": "number"}
        return Shown(sweep_figure(name, axis, [_short(value) for value in values], panels), columns, rows)

    def _grid(self, name: str, path: str | None, scheme: str | None) -> Shown:
        down, across = self._quantities("grid", 2)
        names = [entry.name for entry in self.model.schemes]
        if scheme is None and len(names) > 1:
            raise UserError(f"figure `grid`: is of one scheme: choose one of {', '.join(names)}")
        runs = [run for run in self._along("grid", path, (down, across)) if scheme in (None, run.scheme)]
        places = {(float(self._axes[run.path][down]), float(self._axes[run.path][across])): run.path for run in runs}
        rows, columns = (sorted({place[index] for place in places}) for index in (0, 1))
        values = [
            [
                _mean(
                    _scaled("utilization", run.content["network"]["utilization"])
                    for run in runs
                    if run.path == places.get((y, x))
                )
                for x in columns
            ]
            for y in rows
        ]
        drawing = heatmap_figure(
            name,
            MapAxis(across, [_short(x) for x in columns]),
            MapAxis(down, [_short(y) for y in rows]),
            values,
            "Use of the bottleneck (%)",
            (0.0, 100.0),
        )
        table: list[list[object]] = [
            [y, x, value] for y, each in zip(rows, values, strict=True) for x, value in zip(columns, each, strict=True)
        ]
        return Shown(drawing, {down: "number", across: "number", "utilization_percent": "number"}, table)

    def _pairs(self, name: str, path: str | None) -> Shown:
        runs = self._along("pairs", path, ("scheme", "ours", "theirs", "start_s"))
        found: dict[tuple[str, str], list[float]] = {}
        for run in runs:
            if len(run.content["flows"]) == 2:
                one, other = (flow["scheme"] for flow in run.content["flows"])
                found.setdefault((one, other), []).append(run.content["flows"][0]["payload_share"])
        if not found:
            raise UserError("figure `pairs`: is of runs with two flows: there are none")
        schemes = list(dict.fromkeys(one for one, _ in found))
        others = list(dict.fromkeys(other for _, other in found))
        values = [[_mean(found.get((one, other), [])) for other in others] for one in schemes]
        fair = [[None if value is None else 0.5 for value in row] for row in values]
        down, across = ([self.model.scheme_title(each) for each in names] for names in (schemes, others))
        drawing = matrix_figure(name, down, across, values, "Share of the payload", fair=fair)
        rows: list[list[object]] = [[one, other, _mean(shares), len(shares)] for (one, other), shares in found.items()]
        columns = {"scheme": "text", "competitor": "text", "payload_share": "number", "runs": "integer"}
        return Shown(drawing, columns, rows)

    def ellipses(self, name: str, path: str) -> Shown:
        """The flows of each scheme on one path, as a mean and how they vary."""
        points, rows = [], list[list[object]]()
        for scheme in self.model.schemes:
            flows = [flow for run in self.model.of(path, scheme.name) if run.good for flow in run.content["flows"]]
            pairs = [(flow["mean_srtt_l4"], flow["mean_throughput_l4"]) for flow in flows]
            known = [(float(rtt), float(rate)) for rtt, rate in pairs if rtt is not None and rate is not None]
            if not known:
                continue
            rtt, rate = (statistics.fmean(values) for values in zip(*known, strict=True))
            spread = covariance(known)
            shape = ellipse(*spread) if len(known) > 1 else None
            points.append(PlanePoint(scheme.title, rtt, rate, self.model.styles[scheme.name], spread=shape))
            rows.append([path, scheme.name, len(known), rtt, rate, *spread])
        columns = {"path": "text", "scheme": "text", "flows": "integer", "mean_srtt_ms": "number"}
        columns |= {name: "number" for name in ("throughput_mbps", "var_srtt", "covariance", "var_throughput")}
        return Shown(plane_figure(name, "", points) if points else "", columns, rows)


def covariance(points: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Sample variance of the first, covariance, variance of the second; zeros of a single point."""
    if len(points) < 2:
        return (0.0, 0.0, 0.0)
    x, y = zip(*points, strict=True)
    return (statistics.variance(x), statistics.covariance(x, y), statistics.variance(y))


def ellipse(xx: float, xy: float, yy: float) -> Ellipse:
    """The ellipse of one standard deviation along each of the two directions in which points vary independently."""
    middle, half = (xx + yy) / 2.0, math.hypot((xx - yy) / 2.0, xy)
    long, short = (2.0 * math.sqrt(max(value, 0.0)) for value in (middle + half, middle - half))
    return Ellipse(long, short, angle_deg=math.degrees(0.5 * math.atan2(2.0 * xy, xx - yy)))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _scaled(metric: str, value: float | None) -> float | None:
    return None if value is None else _FACTORS.get(metric, 1.0) * value


def _short(value: float) -> str:
    return f"{value:g}"
