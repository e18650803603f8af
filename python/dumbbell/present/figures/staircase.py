"""Throughput of each flow, and their mean."""

import numpy

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_job, staircase, stairs
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws the flows that join and leave."""
    of.run.source(PACKETS)  # refused where there is none
    return of.drawn(staircase(of.job, of.path.changes_s), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    found = stairs(draw_job("", of.run.statistics, of.run.kept, str))
    for flow, values in found.mbps.items():
        active = numpy.isfinite(values)
        series = found.time_s[active], values[active]
        yield from series_rows(f"flow {flow}", of.scheme(flow), "throughput_mbps", "Mbit/s", *series)
