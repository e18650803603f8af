"""Throughput, delay and loss of every round."""

from dumbbell.present.figures import CAMPAIGN
from dumbbell.present.model.campaigns import draw_campaign
from dumbbell.present.model.figure_request import Drawn, OfResults

SCOPE = CAMPAIGN


def draw(of: OfResults) -> Drawn:
    """Draws the three from the first round to the last."""
    return draw_campaign(of, "round")
