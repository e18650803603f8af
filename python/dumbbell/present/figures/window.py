"""Congestion window and pacing rate."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, RunFigureRequest
from dumbbell.present.model.series import window_series
from dumbbell.present.plots import window_figure

SCOPE = RUN

_FIELDS = (("cwnd_packets", "packets"), ("ssthresh_packets", "packets"), ("pacing_mbps", "Mbit/s"))


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the limits of the sender over time."""
    return request.make_figure(
        window_figure(request.name, window_series(request.samples, request.lines)),
        lambda: request.sampled_rows(_FIELDS),
    )
