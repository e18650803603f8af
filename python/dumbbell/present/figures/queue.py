"""Queue, drops and marks at the bottleneck."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.figure_request import DrawnFigure, Rows, RunFigureRequest, series_rows
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


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw queue, drops and marks over time."""
    series = queue_series(request.samples, "Bottleneck", Stroke(INK, "o"))
    return request.make_figure(queue_figure(request.name, [series]) if series else "", lambda: _rows(request))


def _rows(request: RunFigureRequest) -> Rows:
    for link in request.samples.links[:1]:
        for name, unit in _FIELDS:
            yield from series_rows(link.name, "", name, unit, *getattr(link, name))
