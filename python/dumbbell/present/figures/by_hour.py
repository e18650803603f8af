"""Throughput, delay and loss of each hour of the day (UTC): medians and quartiles."""

from dumbbell.present.figures import CAMPAIGN
from dumbbell.present.model.campaigns import draw_campaign
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest

SCOPE = CAMPAIGN


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw throughput, delay and loss over the hours of the day."""
    return draw_campaign(request, "hour")
