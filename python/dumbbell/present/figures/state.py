"""The controller's modes and what decides them."""

from dumbbell.present.figures import RUN
from dumbbell.present.model.drawing import draw_one
from dumbbell.present.model.figure_request import Drawn, OfRun
from dumbbell.present.model.state import chosen_fields

SCOPE = RUN


def draw(of: OfRun) -> Drawn:
    """Draws the variables of the controller over time."""
    return of.drawn(draw_one(of.job, "state"), lambda: of.logged_rows(chosen_fields))
