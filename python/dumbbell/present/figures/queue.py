"""Queue, drops and marks at the bottleneck."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import Drawn, OfRun, Rows, series_rows
from dumbbell.present.model.series import queue_series
from dumbbell.present.plots import queue_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.parts.style import INK

SCOPE = RUN

_FIELDS = (
    ("queue_packets", "packets"),
    ("drops_packets", "packets"),
    ("marks_packets", "packets"),
    ("capacity_mbps", "Mbit/s"),
)


def draw(of: OfRun) -> Drawn:
    """Draws the three over time."""
    series = queue_series(of.samples, "Bottleneck", Stroke(INK, "o"))
    return of.drawn(queue_figure(of.name, [series]) if series else "", lambda: _rows(of))


def _rows(of: OfRun) -> Rows:
    for link in of.samples.links[:1]:
        for name, unit in _FIELDS:
            yield from series_rows(link.name, "", name, unit, *getattr(link, name))
