"""What each scheme gets beside each other one."""

from dumbbell.present.cells import Cells, all_schemes, mean
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.plots import matrix_figure

SCOPE = GRID


def draw(of: OfResults) -> Drawn:
    """Draws a matrix of the shares in runs with two flows."""
    all_schemes(of.kind, of.scheme)
    runs = Cells(of.model, of.kind).along(of.path, ("scheme", "ours", "theirs", "start_s"))
    found: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if len(run.content["flows"]) == 2:
            one, other = (flow["scheme"] for flow in run.content["flows"])
            found.setdefault((one, other), []).append(run.content["flows"][0]["payload_share"])
    schemes = list(dict.fromkeys(one for one, _ in found))
    others = list(dict.fromkeys(other for _, other in found))
    values = [[mean(found.get((one, other), [])) for other in others] for one in schemes]
    fair = [[None if value is None else 0.5 for value in row] for row in values]
    down, across = ([of.model.scheme_title(each) for each in names] for names in (schemes, others))
    drawing = matrix_figure(of.name, down, across, values, "Share of the payload", fair=fair) if found else ""
    columns = {"scheme": "text", "competitor": "text", "payload_share": "number", "runs": "integer"}
    rows: list[list[object]] = [[one, other, mean(shares), len(shares)] for (one, other), shares in found.items()]
    return of.drawn(of.model.name, drawing, columns, lambda: rows, "is of runs with two flows: there are none")
