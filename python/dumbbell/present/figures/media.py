"""Bitrate and frame delay."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import DrawnFigure, RunFigureRequest

SCOPE = RUN

_FIELDS = ("encoder_rate", "frame_delay", "frame_size")


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the bitrate and the frame delay of a live source, at its viewer."""
    return request.make_figure(draw_one(request.job, "media"), lambda: request.logged_rows(lambda _: _FIELDS))
