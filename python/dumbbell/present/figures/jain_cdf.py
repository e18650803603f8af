"""Distribution of Jain's index over windows of time, of each scheme."""

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.model.staircase import Staircases

SCOPE = PATH


def draw(of: OfResults) -> Drawn:
    """Draws which part of the windows has at most such an index."""
    found, path = Staircases(of.model), of.one_path
    why = f"none of the runs on {path} that count kept a packet log"
    columns = {"path": "text", "scheme": "text", "jain_index": "number", "part": "number"}
    return of.drawn(path, found.draw(path, of.name), columns, lambda: _rows(found, path), why)


def _rows(found: Staircases, path: str) -> list[list[object]]:
    rows: list[list[object]] = []
    for scheme, index in found.indices(path).items():
        values = sorted(index)
        rows += [[path, scheme, value, (number + 1) / len(values)] for number, value in enumerate(values)]
    return rows
