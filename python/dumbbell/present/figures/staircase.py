"""Throughput of each flow, and their mean."""

import numpy

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_job, staircase, stairs
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the throughput of flows that join and leave."""
    request.run.source(PACKETS)  # raises an error if the run has no packet log
    return request.make_figure(staircase(request.job, request.path.changes_s), lambda: _rows(request))


def _rows(request: RunFigureRequest) -> Rows:
    series_by_flow = stairs(draw_job("", request.run.statistics, request.run.kept, str))
    for flow, values in series_by_flow.mbps.items():
        active = numpy.isfinite(values)
        series = series_by_flow.time_s[active], values[active]
        yield from series_rows(f"flow {flow}", request.scheme(flow), "throughput_mbps", "Mbit/s", *series)
