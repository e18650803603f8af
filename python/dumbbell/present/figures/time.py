"""A sampled field of each flow or link over time; throughput unless one is given."""

from collections.abc import Mapping

import numpy

from dumbbell.base.errors import UserError, capitalized, listed, nearest
from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.present.plots import Curve, Panel, Stroke, flow_stroke, time_figure
from dumbbell.results.series.run_files import FLOWS, LINKS
from dumbbell.results.series.samples import Samples, Series, read_sampled

SCOPE = RUN
OPTIONS = ("metric", "from_s", "to_s")

_THROUGHPUT = "throughput_mbps"
_TITLES = {_THROUGHPUT: "throughput", "delivered": "acknowledged", "srtt": "smoothed RTT", "cwnd": "congestion window"}
_MEGA = 1e6  # bytes


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw one field: a sample of a flow's sender, a flow's throughput, or a sample of a link."""
    field, options = request.options.metric or _THROUGHPUT, request.options
    start_s, end_s = options.from_s or 0.0, options.to_s
    if start_s < 0 or (end_s is not None and end_s <= start_s):
        raise UserError(f"figure `{request.kind}`: from {start_s:g} s to {end_s or 0.0:g} s is no part of a run")
    flows, links = read_sampled(request.run.kept.get(FLOWS)), read_sampled(request.run.kept.get(LINKS))
    series, unit = _series(request, field, flows, links)
    scale = 1.0
    if (
        unit == "bytes"
        and max((float(values.max()) for _, values in series.values() if len(values)), default=0) > _MEGA
    ):
        unit, scale = "MB", _MEGA
    states = dict(_state(state) for state in unit.split(", ")) if unit[:1].isdigit() else None
    series_in_span = {name: _clip(values, start_s, end_s) for name, values in series.items()}
    curves = [
        Curve(_label(request, name), _stroke(request, name, place), time_s, values / scale, states is not None, name[1])
        for place, (name, (time_s, values)) in enumerate(series_in_span.items())
        if len(time_s)
    ]
    title = capitalized(_TITLES.get(field, field.replace("_", " ")))
    label = "" if states else title if not unit else f"{title} ({unit})"
    panel = Panel(label, curves, height=165.0, states=states, title=title if states else "")
    span = (start_s, end_s) if end_s is not None else (start_s, max((float(c.time_s[-1]) for c in curves), default=1.0))
    drawing = time_figure(request.name, [panel], span=span if options.given else None) if curves else ""

    def rows() -> Rows:
        for (subject, scheme), (time_s, values) in series_in_span.items():
            yield from series_rows(subject, scheme, field, unit if scale == 1.0 else "bytes", time_s, values)

    return request.make_figure(drawing, rows, shows=f"{title} over time")


def _series(
    request: RunFigureRequest, field: str, flows: Samples, links: Samples
) -> tuple[Mapping[tuple[str, str], Series], str]:
    """Return the series of a field by subject and scheme, and the unit of the field.

    Raises:
        UserError: No flow or link has samples of this field.
    """
    if field == _THROUGHPUT:
        return {(f"flow {flow.flow}", flow.scheme): flow.throughput_mbps for flow in request.samples.flows}, "Mbit/s"
    if field in flows.series:
        flow_series = sorted(flows.series[field].items(), key=lambda entry: int(entry[0]))
        return {(f"flow {flow}", request.scheme(int(flow))): values for flow, values in flow_series}, flows.units[field]
    if field in links.series:
        return {(link, ""): values for link, values in links.series[field].items()}, links.units[field]
    fields = list(dict.fromkeys([_THROUGHPUT, *flows.series, *links.series]))
    hint = f"unknown field `{field}`{nearest(field, fields)}"
    raise UserError(f"{request.run.label}: figure `{request.kind}`: {hint}: sampled are {listed(fields)}")


def _clip(series: Series, start_s: float, end_s: float | None) -> Series:
    time_s, values = series
    selection = (time_s >= start_s) & (time_s <= (numpy.inf if end_s is None else end_s)) & numpy.isfinite(values)
    return time_s[selection], values[selection]


def _state(text: str) -> tuple[float, str]:
    """Parse one state of a unit that lists states: `0 startup`."""
    number, _, name = text.partition(" ")
    return float(number), name


def _number(name: tuple[str, str]) -> int:
    return int(name[0].removeprefix("flow ")) if name[0].startswith("flow ") else 0


def _label(request: RunFigureRequest, name: tuple[str, str]) -> str:
    line = request.lines.get(_number(name))
    return line.label if line else name[0]


def _stroke(request: RunFigureRequest, name: tuple[str, str], place: int) -> Stroke:
    line = request.lines.get(_number(name))
    return line.stroke if line else flow_stroke(place + 1)
