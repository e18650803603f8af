"""Fairness in windows of time, as Jain's index."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.results.analysis.jain import RULES, WINDOW_S, jain_series
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the index by each rule of counting flows."""
    request.run.source(PACKETS)  # raises an error if the run has no packet log
    return request.make_figure(draw_one(request.job, "jain"), lambda: _rows(request))


def _rows(request: RunFigureRequest) -> Rows:
    window_s = request.run.statistics["network"].get("jain_window_s") or WINDOW_S
    for rule in RULES:
        series = jain_series(request.run.source(PACKETS), request.run.statistics["flows"], rule, window_s)
        yield from series_rows("network", "", rule, "", series.time_s, series.index)
