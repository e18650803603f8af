"""Distribution of the throughput and smoothed RTT samples of each flow, as eCDFs."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, RunFigureRequest
from dumbbell.present.model.series import distributions
from dumbbell.present.plots import distribution_figure

SCOPE = RUN

_FIELDS = (("throughput_mbps", "Mbit/s"), ("srtt_ms", "ms"))


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the cumulative distribution of the samples of each flow."""
    drawing = distribution_figure(request.name, distributions(request.samples, request.lines))
    return request.make_figure(drawing, lambda: request.sampled_rows(_FIELDS))
