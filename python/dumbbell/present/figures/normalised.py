"""Throughput as a share of the experiment's largest over mean queueing delay, all paths together."""

from dumbbell.present.figures import ALL_PATHS
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.model.normalised import Experiments

SCOPE = ALL_PATHS
OPTIONS = ("beside", "legacy")


def draw(of: OfResults) -> Drawn:
    """Draws a point for each scheme over all experiments."""
    found = Experiments([of.model.directory, *of.options.beside], of.options.legacy)
    columns = {"scheme": "text", "throughput": "number", "queueing_delay_ms": "number"}
    columns |= {"flows": "integer", "experiments": "integer"}
    why = "no run that counts has throughput and queueing delay"
    return of.drawn(
        "", found.draw(of.name), columns, lambda: [list(vars(each).values()) for each in found.found()], why
    )
