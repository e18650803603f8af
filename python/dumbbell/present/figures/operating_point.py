"""Packets in flight, RTT and throughput."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, RunFigureRequest
from dumbbell.present.model.series import operating_series
from dumbbell.present.plots import operating_point_figure

SCOPE = RUN

_FIELDS = (("in_flight_segments", "segments"), ("srtt_ms", "ms"), ("throughput_mbps", "Mbit/s"))


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw packets in flight, RTT and throughput over time."""
    series = operating_series(request.samples, request.lines)
    drawing = operating_point_figure(
        request.name, series, capacity_mbps=request.capacity_mbps, changes_s=request.path.changes_s
    )
    return request.make_figure(drawing, lambda: request.sampled_rows(_FIELDS))
