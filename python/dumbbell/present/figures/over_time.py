"""Throughput, delay and loss of every round."""

from dumbbell.present.campaigns import draw_campaign
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import CAMPAIGN

SCOPE = CAMPAIGN


def draw(of: OfResults) -> Drawn:
    """Draws the three from the first round to the last."""
    return draw_campaign(of, "round")
