"""Shares of the flows, and Jain's index."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
from dumbbell.present.model.series import shares
from dumbbell.present.plots import fairness_figure

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the shares of the flows over time."""
    return request.make_figure(
        fairness_figure(request.name, *shares(request.samples, request.lines), request.samples.jain),
        lambda: _rows(request),
    )


def _rows(request: RunFigureRequest) -> Rows:
    yield from request.sampled_rows([("throughput_mbps", "Mbit/s")])
    yield from series_rows("network", "", "jain_index", "", *request.samples.jain)
