"""Throughput as a share of the experiment's largest over mean queueing delay, all paths together."""

from dumbbell.present.figures import ALL_PATHS
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.normalised import Experiments

SCOPE = ALL_PATHS
OPTIONS = ("beside", "legacy")


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw a point for each scheme over all experiments."""
    experiments = Experiments([request.model.directory, *request.options.beside], request.options.legacy)
    columns = {"scheme": "text", "throughput": "number", "queueing_delay_ms": "number"}
    columns |= {"flows": "integer", "experiments": "integer"}
    problem = "no run that counts has throughput and queueing delay"
    return request.make_figure(
        "",
        experiments.draw(request.name),
        columns,
        lambda: [list(vars(mean).values()) for mean in experiments.scheme_means()],
        problem,
    )
