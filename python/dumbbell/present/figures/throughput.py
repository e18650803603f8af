"""Rates into and out of the path, packets with the path's overhead."""

from dumbbell.present.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.figures import RUN
from dumbbell.present.report.drawing import BIN_S, draw_job, draw_one, shown_capacity
from dumbbell.present.report.drawn.source import rates
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws what was sent and what arrived, in intervals."""
    of.run.source(PACKETS)  # refused where there is none
    return of.drawn(draw_one(of.job, "throughput"), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    found = rates(of.run.source(PACKETS), BIN_S)
    for direction, flows in (("ingress", found.ingress), ("egress", found.egress)):
        for flow, values in sorted(flows.items()):
            times = (found.start_s + index * found.bin_s for index in range(len(values)))
            yield from series_rows(f"flow {flow}", of.scheme(flow), f"{direction}_mbps", "Mbit/s", times, values)
    capacity = shown_capacity(draw_job("", of.run.statistics, of.run.kept, str))
    times = (found.start_s + index * found.bin_s for index in range(len(capacity)))
    yield from series_rows("path", "", "capacity_mbps", "Mbit/s", times, capacity)
