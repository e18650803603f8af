"""One-way delay of every packet."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.model.source import delays
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws the delays over time."""
    of.run.source(PACKETS)  # refused where there is none
    return of.drawn(draw_one(of.job, "delay"), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    for flow, (time_s, delay_ms) in sorted(delays(of.run.source(PACKETS)).items()):
        yield from series_rows(f"flow {flow}", of.scheme(flow), "one_way_delay_ms", "ms", time_s, delay_ms)
