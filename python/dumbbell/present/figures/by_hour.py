"""Throughput, delay and loss of each hour of the day (UTC): medians and quartiles."""

from dumbbell.present.figures import CAMPAIGN
from dumbbell.present.model.campaigns import draw_campaign
from dumbbell.present.model.figure_request import Drawn, OfResults

SCOPE = CAMPAIGN


def draw(of: OfResults) -> Drawn:
    """Draws the three over the hours."""
    return draw_campaign(of, "hour")
