"""Rates into and out of the path in half seconds, with headers; as Pantheon draws it, out is at the end of each."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import BIN_S, draw_job, draw_one, shown_capacity
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.model.source import rates
from dumbbell.results.series.run_files import PACKETS

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws what was sent and what arrived, in intervals."""
    of.run.source(PACKETS)  # refused where there is none
    return of.drawn(draw_one(of.job, "throughput"), lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    """Yield the rates at the times where the figure has them: in at the start of each interval, out at its end."""
    found = rates(of.run.source(PACKETS), BIN_S)
    for direction, flows, place in (("ingress", found.ingress, 0), ("egress", found.egress, 1)):
        for flow, values in sorted(flows.items()):
            times = ((index + place) * found.bin_s for index in range(len(values)))
            yield from series_rows(f"flow {flow}", of.scheme(flow), f"{direction}_mbps", "Mbit/s", times, values)
    capacity = shown_capacity(draw_job("", of.run.statistics, of.run.kept, str))
    times = (index * found.bin_s for index in range(len(capacity)))
    yield from series_rows("path", "", "capacity_mbps", "Mbit/s", times, capacity)
