"""Distribution of the throughput and smoothed RTT samples of each flow, as eCDFs."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun
from dumbbell.present.model.series import distributions
from dumbbell.present.plots import distribution_figure

SCOPE = RUN

_FIELDS = (("throughput_mbps", "Mbit/s"), ("srtt_ms", "ms"))


def draw(of: OfRun) -> Drawn:
    """Draws which part of the samples is at most so large."""
    drawing = distribution_figure(of.name, distributions(of.samples, of.lines))
    return of.drawn(drawing, lambda: of.sampled_rows(_FIELDS))
