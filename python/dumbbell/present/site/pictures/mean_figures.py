"""Figures of means over runs: operating points, sweeps, matrices, completion times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from dumbbell.catalog.grids.cell import Cell
from dumbbell.present.plots import (
    Bars,
    MapAxis,
    OperatingPoint,
    Optimum,
    PlanePoint,
    SweepLine,
    SweepPanel,
    VerdictPoint,
    heatmap_figure,
    in_flight_figure,
    matrix_figure,
    plane_figure,
    sweep_figure,
    verdict_figure,
)
from dumbbell.present.site.judging.competition import axis_of, has_matches, matches, surroundings
from dumbbell.present.site.judging.direction import Metric, metric
from dumbbell.present.site.judging.findings import Findings, Flows, MeasuredCell, Site, estimate
from dumbbell.present.site.pictures.sketch import Sketch, place, strokes
from dumbbell.results.analysis.summary import Estimate
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.statistics import Completion

MOST_PANELS = 4
MOST_POINTS = 12
"""Flows of one scheme that a figure of means shows."""
MOST_HEATMAPS = 2
_IN_FLIGHT, _THROUGHPUT, _SRTT = (
    metric("flow", name) for name in ("mean_in_flight_l4", "mean_throughput_l4", "mean_srtt_l4")
)
_USED, _WAITED = metric("network", "utilization"), metric("flow", "self_inflicted_delay_p95_ms")


@dataclass(frozen=True)
class _InFlight(Sketch):
    points: tuple[OperatingPoint, ...] = ()
    optimum: Optimum | None = None
    joint: tuple[float, float, float] | None = None

    def draw(self, name: str) -> str:
        return in_flight_figure(name, self.points, optimum=self.optimum, joint=self.joint)


@dataclass(frozen=True)
class _Plane(Sketch):
    points: tuple[PlanePoint, ...] = ()
    optimum: tuple[float, float] | None = None

    def draw(self, name: str) -> str:
        return plane_figure(name, "", self.points, self.optimum)


@dataclass(frozen=True)
class _Sweep(Sketch):
    axis: str = ""
    values: tuple[str, ...] = ()
    panels: tuple[SweepPanel, ...] = ()

    def draw(self, name: str) -> str:
        return sweep_figure(name, self.axis, self.values, self.panels)


@dataclass(frozen=True)
class _HeatMap(Sketch):
    columns: MapAxis = field(default_factory=lambda: MapAxis("", ()))
    rows: MapAxis = field(default_factory=lambda: MapAxis("", ()))
    values: tuple[tuple[float | None, ...], ...] = ()
    metric: str = ""

    def draw(self, name: str) -> str:
        return heatmap_figure(name, self.columns, self.rows, self.values, self.metric)


@dataclass(frozen=True)
class _Matrix(Sketch):
    schemes: tuple[str, ...] = ()
    competitors: tuple[str, ...] = ()
    values: tuple[tuple[float | None, ...], ...] = ()
    metric: str = ""
    fair: tuple[tuple[float | None, ...], ...] | None = None

    def draw(self, name: str) -> str:
        return matrix_figure(name, self.schemes, self.competitors, self.values, self.metric, fair=self.fair)


@dataclass(frozen=True)
class _Verdict(Sketch):
    points: tuple[VerdictPoint, ...] = ()

    def draw(self, name: str) -> str:
        return verdict_figure(name, self.points)


def verdict(site: Site) -> Iterator[Sketch]:
    """Utilisation over delay of the schemes that most experiments have, over the cells in which all of them were."""
    alone = [found for found in site.findings if not has_matches(found)]
    labels = [name for name in site.schemes if 2 * sum(name in found.labels for found in alone) > len(alone)]
    rows: list[list[tuple[float, float]]] = []
    for found in alone:
        own = [_both(found, label) for label in labels]
        shared = set[str]().union(*own).intersection(*own)
        rows += [[each[cell.name] for each in own] for cell in found.cells if cell.name in shared]
    if not rows:
        return
    points = []
    for label, pairs in zip(labels, zip(*rows, strict=True), strict=True):
        used, waited = (sum(values) / len(rows) for values in zip(*pairs, strict=True))
        points.append(VerdictPoint(site.title(label), used, waited, site.styles[label]))
    words = "; ".join(f"{each.name} {100 * each.utilization:.1f} % at {each.delay_ms:.1f} ms" for each in points)
    title = f"Means over {len(rows)} cells that all of these schemes ran in"
    yield _Verdict("verdict", title, in_words=words, points=tuple(points))


def _both(found: Findings, label: str) -> dict[str, tuple[float, float]]:
    """Utilisation and self-inflicted delay by cell, where both are known."""
    used, waited = ({cell.name: value for cell, value in found.means_of(label, each)} for each in (_USED, _WAITED))
    return {name: (used[name], waited[name]) for name in used if name in waited}


def _optimum(cell: MeasuredCell) -> Optimum | None:
    """In flight = BDP, the full rate and the base RTT, of a path whose rate and delay stay."""
    path = cell.path.describe()
    if any(changes is None or len(changes[0]) > 1 for changes in (path.rates_mbps, path.base_rtts_ms)):
        return None
    model = Cell(cell.path, ())
    return Optimum(model.bdp_packets, model.rate_mbps, path.base_rtt_ms)


def _mean(estimate: Estimate | None) -> float | None:
    return estimate.mean if estimate else None


def in_flight(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """Mean throughput and sRTT over the mean in flight: the schemes, or the flows of each scheme under test."""
    optimum = _optimum(cell)
    title = f"In flight and mean operating point{place(found, cell)}"
    if all(cell.single(label) for label in found.labels):
        points = []
        for label in found.labels:
            values = [_mean(cell.estimate(label, each)) for each in (_IN_FLIGHT, _THROUGHPUT, _SRTT)]
            if None not in values:
                points.append(OperatingPoint(site.title(label), site.styles[label], *_floats(values)))
        if points:
            yield _InFlight("in-flight", title, points=tuple(points), optimum=optimum)
        return
    for label in (label for label in site.examined if label in found.labels):
        points = []
        for number, plan in enumerate(cell.plans[label][:MOST_POINTS], 1):
            flows = Flows(label, plan.scheme, (number,), "")
            means = [_mean(estimate(cell.flow_values(flows, each.name))) for each in (_IN_FLIGHT, _THROUGHPUT, _SRTT)]
            if None not in means:
                points.append(OperatingPoint(f"flow {number}", site.styles[plan.scheme], *_floats(means)))
        if points:
            joint = (
                sum(point.in_flight for point in points),
                sum(point.throughput_mbps for point in points),
                sum(point.srtt_ms for point in points) / len(points),
            )
            heading = f"{title}: flows of {site.title(label)}"
            yield _InFlight("in-flight", heading, label, points=tuple(points), optimum=optimum, joint=joint)


def _floats(values: Sequence[float | None]) -> Iterator[float]:
    return (value for value in values if value is not None)


def plane(site: Site, found: Findings, cell: MeasuredCell) -> Iterator[Sketch]:
    """Mean throughput over mean sRTT, a point for each scheme."""
    points = []
    for label in found.labels:
        throughput, srtt = cell.estimate(label, _THROUGHPUT), cell.estimate(label, _SRTT)
        if throughput and srtt:
            hover = f"{site.title(label)}: {throughput.mean:.4g} Mbit/s, {srtt.mean:.4g} ms"
            points.append(
                PlanePoint(
                    site.title(label), srtt.mean, throughput.mean, site.styles[label], hover, _bars(srtt, throughput)
                )
            )
    if points:
        optimum = _optimum(cell)
        star = (optimum.srtt_ms, optimum.throughput_mbps) if optimum else None
        words = "; ".join(point.title for point in points)
        title = f"Mean operating point{place(found, cell)}"
        yield _Plane("plane", title, in_words=words, points=tuple(points), optimum=star)


def _bars(srtt: Estimate, throughput: Estimate) -> Bars | None:
    if srtt.low is None or srtt.high is None or throughput.low is None or throughput.high is None:
        return None
    return Bars((srtt.low, srtt.high), (throughput.low, throughput.high))


def _named(each: Metric) -> str:
    return f"{each.words} ({each.unit})" if each.unit else each.words


def sweep(site: Site, found: Findings) -> Iterator[Sketch]:
    """One axis: lines for all schemes. Two: a heat map for each scheme under test. More: one for each rest."""
    axes = sorted(found.axes, key=lambda axis: len(_values(found, axis)))
    if len(found.cells) < 2:
        return
    *rest, axis = axes
    if not rest or all(len(_values(found, other)) * len(found.labels) <= 3 for other in rest):
        yield from _lines(site, found, axis, rest, found.telling[:MOST_PANELS])
        return
    other = rest.pop()
    if len(_values(found, other)) <= 2:
        yield from _lines(site, found, axis, [*rest, other], found.telling[:MOST_PANELS])
        return
    for fixed in product(*(_values(found, each) for each in rest)):
        cells = {
            (cell.place(axis), cell.place(other)): cell
            for cell in found.cells
            if all(cell.place(name) == value for name, value in zip(rest, fixed, strict=True))
        }
        columns, rows = MapAxis(axis, _values(found, axis)), MapAxis(other, _values(found, other))
        where = "".join(f", {name} {value}" for name, value in zip(rest, fixed, strict=True))
        for label in (label for label in site.examined if label in found.labels):
            for each in found.telling[:MOST_HEATMAPS]:
                values = tuple(
                    tuple(_mean(cells[x, y].estimate(label, each)) if (x, y) in cells else None for x in columns.values)
                    for y in rows.values
                )
                title = f"{each.words} of {site.title(label)} over {axis} and {other}{where}"
                part = "-".join([label, each.name, *fixed])
                yield _HeatMap("sweep", title, part, columns=columns, rows=rows, values=values, metric=_named(each))


def _values(found: Findings, axis: str) -> list[str]:
    return list(dict.fromkeys(cell.place(axis) for cell in found.cells))


def _lines(site: Site, found: Findings, axis: str, rest: Sequence[str], metrics: Sequence[Metric]) -> Iterator[Sketch]:
    looks = strokes(site, found.labels)
    values = _values(found, axis)
    for fixed in product(*(_values(found, each) for each in rest)):
        cells = {
            cell.place(axis): cell
            for cell in found.cells
            if all(cell.place(name) == value for name, value in zip(rest, fixed, strict=True))
        }
        panels = []
        for each in metrics:
            lines = [
                _line(site.title(label), looks[label], [_at(cells, value, label, each) for value in values])
                for label in found.labels
            ]
            if any(value is not None for line in lines for value in line.values):
                panels.append(SweepPanel(_named(each), lines))
        if panels:
            where = "".join(f", {name} {value}" for name, value in zip(rest, fixed, strict=True))
            title = f"Metrics over {axis}{where}"
            part = "-".join(fixed)
            yield _Sweep("sweep", title, part, axis=axis, values=tuple(values), panels=tuple(panels))


def _at(cells: dict[str, MeasuredCell], value: str, label: str, each: Metric) -> Estimate | None:
    return cells[value].estimate(label, each) if value in cells else None


def _line(title: str, stroke: Any, estimates: Sequence[Estimate | None]) -> SweepLine:  # noqa: ANN401 (a Stroke)
    intervals = [
        (each.low, each.high) if each and each.low is not None and each.high is not None else None for each in estimates
    ]
    return SweepLine(title, stroke, [_mean(each) for each in estimates], intervals)


def matrices(site: Site, found: Findings) -> Iterator[Sketch]:
    """Shares, and the harm done to the competitors' throughput, for each surroundings."""
    every = matches(found)
    for where in dict.fromkeys(surroundings(found, match.cell) for match in every):
        own = [match for match in every if surroundings(found, match.cell) == where]
        schemes = [label for label in found.labels if any(match.label == label for match in own)]
        competitors = list(dict.fromkeys((match.competitor, match.numbers) for match in own))
        names = tuple(
            site.title(name) + (f", {numbers}" if len({n for _, n in competitors}) > 1 else "")
            for name, numbers in competitors
        )
        by_place = {(match.label, (match.competitor, match.numbers)): match for match in own}
        axes = [axis for axis in found.axes if axis != axis_of(found)]
        suffix = f", {own[0].cell.label(axes)}" if axes else ""
        shares, harms, fair = [], [], []
        for label in schemes:
            row = [by_place.get((label, competitor)) for competitor in competitors]
            shares.append(tuple(_mean(match.share) if match else None for match in row))
            fair.append(tuple(match.fair if match else None for match in row))
            done = (
                next((h.harm for h in match.done if h.metric.name == _THROUGHPUT.name), None) if match else None
                for match in row
            )
            harms.append(tuple(done))
        titles = tuple(site.title(label) for label in schemes)
        for kind, values, name, balanced in (
            ("share", shares, "Share of the scheme", tuple(fair)),
            ("harm", harms, "Harm to the competitor's throughput", None),
        ):
            if any(value is not None for line in values for value in line):
                yield _Matrix(
                    "matrix",
                    f"{name}{suffix}",
                    "-".join([kind, *where]),
                    schemes=titles,
                    competitors=names,
                    values=tuple(values),
                    metric=name,
                    fair=balanced,
                )


def completion(site: Site, found: Findings) -> Iterator[Sketch]:
    """Completion times over the size of transfers, a line for each scheme; percentiles below each other."""
    looks = strokes(site, found.labels)
    for cell in found.cells:
        sizes = sorted({entry["bytes"] for label in found.labels for entry in _completions(cell, label)})
        if len(sizes) < 2:
            continue
        panels = []
        for key, title in (("mean_s", "mean"), ("p95_s", "95th percentile"), ("p99_s", "99th percentile")):
            lines = [
                _line(site.title(label), looks[label], [_completed(cell, label, size, key) for size in sizes])
                for label in found.labels
            ]
            if any(value is not None for line in lines for value in line.values):
                panels.append(SweepPanel(f"FCT, {title} (s)", lines, logarithmic=True))
        if panels:
            title = f"Flow completion time{place(found, cell)}"
            shown = tuple(str(size) for size in sizes)
            yield _Sweep("completion", title, cell=cell.name, axis="bytes", values=shown, panels=tuple(panels))


def _completions(cell: MeasuredCell, label: str) -> list[Completion]:
    return [entry for run in cell.good(label) for entry in run.content["network"].get("completions") or []]


def _completed(cell: MeasuredCell, label: str, size: int, key: str) -> Estimate | None:
    found = [value_of(entry, key) for entry in _completions(cell, label) if entry["bytes"] == size]
    return estimate([value for value in found if value is not None])
