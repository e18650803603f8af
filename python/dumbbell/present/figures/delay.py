"""One-way delay of every packet."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.present.model.source import delays
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the delays over time."""
    request.run.source(PACKETS)  # raises an error if the run has no packet log
    return request.make_figure(draw_one(request.job, "delay"), lambda: _rows(request))


def _rows(request: RunFigureRequest) -> Rows:
    for flow, (time_s, delay_ms) in sorted(delays(request.run.source(PACKETS)).items()):
        yield from series_rows(f"flow {flow}", request.scheme(flow), "one_way_delay_ms", "ms", time_s, delay_ms)
