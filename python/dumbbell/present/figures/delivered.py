"""Payload acknowledged so far, of each flow."""

from dumbbell.present.figure_request import Drawn, OfRun
from dumbbell.present.figures import RUN
from dumbbell.present.plots import Curve, Panel, time_figure
from dumbbell.results.series.run_files import FLOWS
from dumbbell.results.series.samples import read_sampled

SCOPE = RUN

_FIELD = "delivered"


def draw(of: OfRun) -> Drawn:
    """Draws what a flow has brought across at each time: its slope is the rate, a level stretch is a stall."""
    lines = of.lines
    found = read_sampled(of.run.kept.get(FLOWS)).series.get(_FIELD, {})
    series = {flow: found[str(flow)] for flow in sorted(lines) if str(flow) in found}
    curves = [
        Curve(lines[flow].label, lines[flow].stroke, time_s, total / 1e6) for flow, (time_s, total) in series.items()
    ]
    drawing = time_figure(of.name, [Panel("Acknowledged (MB)", curves, height=165.0)]) if curves else ""
    return of.drawn(drawing, lambda: of.logged_rows(lambda _: [_FIELD]))
