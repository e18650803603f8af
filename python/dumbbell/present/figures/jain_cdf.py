"""Distribution of Jain's index over windows of time, of each scheme."""

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.staircase import Staircases

SCOPE = PATH


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the cumulative distribution of the index over the windows, for each scheme."""
    staircases, path = Staircases(request.model), request.one_path
    problem = f"none of the runs on {path} that count kept a packet log"
    columns = {"path": "text", "scheme": "text", "jain_index": "number", "part": "number"}
    return request.make_figure(
        path, staircases.draw(path, request.name), columns, lambda: _rows(staircases, path), problem
    )


def _rows(staircases: Staircases, path: str) -> list[list[object]]:
    rows: list[list[object]] = []
    for scheme, index in staircases.indices(path).items():
        values = sorted(index)
        rows += [[path, scheme, value, (number + 1) / len(values)] for number, value in enumerate(values)]
    return rows
