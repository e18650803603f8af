"""Rates into and out of the path in half seconds, with headers; as Pantheon draws it, out is at the end of each."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import BIN_S, draw_job, draw_one, shown_capacity
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.present.model.source import rates
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the rates into and out of the path, per interval."""
    request.run.source(PACKETS)  # raises an error if the run has no packet log
    return request.make_figure(draw_one(request.job, "throughput"), lambda: _rows(request))


def _rows(request: RunFigureRequest) -> Rows:
    """Yield the rates at the times of the figure: ingress at the start of each interval, egress at its end."""
    series = rates(request.run.source(PACKETS), BIN_S)
    for direction, flows, place in (("ingress", series.ingress, 0), ("egress", series.egress, 1)):
        for flow, values in sorted(flows.items()):
            times = ((index + place) * series.bin_s for index in range(len(values)))
            yield from series_rows(f"flow {flow}", request.scheme(flow), f"{direction}_mbps", "Mbit/s", times, values)
    capacity = shown_capacity(draw_job("", request.run.statistics, request.run.kept, str))
    times = (index * series.bin_s for index in range(len(capacity)))
    yield from series_rows("path", "", "capacity_mbps", "Mbit/s", times, capacity)
