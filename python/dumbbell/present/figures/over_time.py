"""Throughput, delay and loss of every round."""

from dumbbell.present.figures import CAMPAIGN
from dumbbell.present.model.campaigns import draw_campaign
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest

SCOPE = CAMPAIGN


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw throughput, delay and loss from the first round to the last."""
    return draw_campaign(request, "round")
