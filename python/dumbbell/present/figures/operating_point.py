"""Packets in flight, RTT and throughput."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun
from dumbbell.present.model.series import operating_series
from dumbbell.present.plots import operating_point_figure

SCOPE = RUN

_FIELDS = (("in_flight_segments", "segments"), ("srtt_ms", "ms"), ("throughput_mbps", "Mbit/s"))


def draw(of: OfRun) -> Drawn:
    """Draws the three over time."""
    series = operating_series(of.samples, of.lines)
    drawing = operating_point_figure(of.name, series, capacity_mbps=of.capacity_mbps, changes_s=of.path.changes_s)
    return of.drawn(drawing, lambda: of.sampled_rows(_FIELDS))
