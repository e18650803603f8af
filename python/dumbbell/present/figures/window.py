"""Congestion window and pacing rate."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun
from dumbbell.present.model.series import window_series
from dumbbell.present.plots import window_figure

SCOPE = RUN

_FIELDS = (("cwnd_packets", "packets"), ("ssthresh_packets", "packets"), ("pacing_mbps", "Mbit/s"))


def draw(of: OfRun) -> Drawn:
    """Draws what limits the sender over time."""
    return of.drawn(window_figure(of.name, window_series(of.samples, of.lines)), lambda: of.sampled_rows(_FIELDS))
