"""Bitrate and frame delay."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import Drawn, OfRun

SCOPE = RUN

_FIELDS = ("encoder_rate", "frame_delay", "frame_size")


def draw(of: OfRun) -> Drawn:
    """Draws what the viewer of a live source got."""
    return of.drawn(draw_one(of.job, "media"), lambda: of.logged_rows(lambda _: _FIELDS))
