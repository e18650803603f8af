"""The controller's modes and what decides them."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import DrawnFigure, RunFigureRequest
from dumbbell.present.model.state import chosen_fields

SCOPE = RUN


def draw(request: RunFigureRequest) -> DrawnFigure:
    """Draw the variables of the controller over time."""
    return request.make_figure(draw_one(request.job, "state"), lambda: request.logged_rows(chosen_fields))
