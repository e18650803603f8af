"""Congestion window and pacing rate."""

from dumbbell.present.figure_request import Drawn, OfRun
from dumbbell.present.figures import RUN
from dumbbell.present.plots import window_figure
from dumbbell.present.report.drawn.series import window_series

SCOPE = RUN

_FIELDS = (("cwnd_packets", "packets"), ("ssthresh_packets", "packets"), ("pacing_mbps", "Mbit/s"))


def draw(of: OfRun) -> Drawn:
    """Draws what limits the sender over time."""
    return of.drawn(window_figure(of.name, window_series(of.samples, of.lines)), lambda: of.sampled_rows(_FIELDS))
