"""A sampled field of each flow or link over time; throughput unless one is given."""

from collections.abc import Mapping

import numpy

from dumbbell.base.errors import UserError, capitalized, listed, nearest
from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.plots import Curve, Panel, Stroke, flow_stroke, time_figure
from dumbbell.results.series.run_files import FLOWS, LINKS
from dumbbell.results.series.samples import Sampled, Series, read_sampled

SCOPE = RUN
OPTIONS = ("metric", "from_s", "to_s")

_THROUGHPUT = "throughput_mbps"
_TITLES = {_THROUGHPUT: "throughput", "delivered": "acknowledged", "srtt": "smoothed RTT", "cwnd": "congestion window"}
_MEGA = 1e6  # bytes


def draw(of: OfRun) -> Drawn:
    """Draws one field: what a flow's sender sampled, what it got, or what a link sampled."""
    field, options = of.options.metric or _THROUGHPUT, of.options
    start_s, end_s = options.from_s or 0.0, options.to_s
    if start_s < 0 or (end_s is not None and end_s <= start_s):
        raise UserError(f"figure `{of.kind}`: from {start_s:g} s to {end_s or 0.0:g} s is no part of a run")
    flows, links = read_sampled(of.run.kept.get(FLOWS)), read_sampled(of.run.kept.get(LINKS))
    series, unit = _series(of, field, flows, links)
    scale = 1.0
    if (
        unit == "bytes"
        and max((float(values.max()) for _, values in series.values() if len(values)), default=0) > _MEGA
    ):
        unit, scale = "MB", _MEGA
    states = dict(_state(each) for each in unit.split(", ")) if unit[:1].isdigit() else None
    cut = {name: _cut(each, start_s, end_s) for name, each in series.items()}
    curves = [
        Curve(_label(of, name), _stroke(of, name, place), time_s, values / scale, states is not None, name[1])
        for place, (name, (time_s, values)) in enumerate(cut.items())
        if len(time_s)
    ]
    title = capitalized(_TITLES.get(field, field.replace("_", " ")))
    label = "" if states else title if not unit else f"{title} ({unit})"
    panel = Panel(label, curves, height=165.0, states=states, title=title if states else "")
    span = (start_s, end_s) if end_s is not None else (start_s, max((float(c.time_s[-1]) for c in curves), default=1.0))
    drawing = time_figure(of.name, [panel], span=span if options.given else None) if curves else ""

    def rows() -> Rows:
        for (what, scheme), (time_s, values) in cut.items():
            yield from series_rows(what, scheme, field, unit if scale == 1.0 else "bytes", time_s, values)

    return of.drawn(drawing, rows, shows=f"{title} over time")


def _series(of: OfRun, field: str, flows: Sampled, links: Sampled) -> tuple[Mapping[tuple[str, str], Series], str]:
    """The series of a field, each with whose it is and of which scheme, and its unit.

    Raises:
        UserError: nothing of this name was sampled.
    """
    if field == _THROUGHPUT:
        return {(f"flow {flow.flow}", flow.scheme): flow.throughput_mbps for flow in of.samples.flows}, "Mbit/s"
    if field in flows.series:
        found = sorted(flows.series[field].items(), key=lambda each: int(each[0]))
        return {(f"flow {flow}", of.scheme(int(flow))): each for flow, each in found}, flows.units[field]
    if field in links.series:
        return {(link, ""): each for link, each in links.series[field].items()}, links.units[field]
    known = list(dict.fromkeys([_THROUGHPUT, *flows.series, *links.series]))
    hint = f"unknown field `{field}`{nearest(field, known)}"
    raise UserError(f"{of.run.label}: figure `{of.kind}`: {hint}: sampled are {listed(known)}")


def _cut(series: Series, start_s: float, end_s: float | None) -> Series:
    time_s, values = series
    kept = (time_s >= start_s) & (time_s <= (numpy.inf if end_s is None else end_s)) & numpy.isfinite(values)
    return time_s[kept], values[kept]


def _state(text: str) -> tuple[float, str]:
    """One of the states that a unit names: `0 startup`."""
    number, _, name = text.partition(" ")
    return float(number), name


def _number(name: tuple[str, str]) -> int:
    return int(name[0].removeprefix("flow ")) if name[0].startswith("flow ") else 0


def _label(of: OfRun, name: tuple[str, str]) -> str:
    line = of.lines.get(_number(name))
    return line.label if line else name[0]


def _stroke(of: OfRun, name: tuple[str, str], place: int) -> Stroke:
    line = of.lines.get(_number(name))
    return line.stroke if line else flow_stroke(place + 1)
