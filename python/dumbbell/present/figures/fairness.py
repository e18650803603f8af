"""Shares of the flows, and Jain's index."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.model.series import shares
from dumbbell.present.plots import fairness_figure

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws how the flows share over time."""
    return of.drawn(fairness_figure(of.name, *shares(of.samples, of.lines), of.samples.jain), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    yield from of.sampled_rows([("throughput_mbps", "Mbit/s")])
    yield from series_rows("network", "", "jain_index", "", *of.samples.jain)
