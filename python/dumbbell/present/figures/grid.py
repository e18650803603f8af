"""Use of the bottleneck by a scheme over the last two axes of a grid."""

from dumbbell.base.errors import UserError
from dumbbell.present.cells import Cells, mean, scaled
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.plots import MapAxis, heatmap_figure

SCOPE = GRID


def draw(of: OfResults) -> Drawn:
    """Draws a map of one scheme."""
    cells = Cells(of.model, of.kind)
    down, across = cells.quantities(2)
    names = [entry.name for entry in of.model.schemes]
    if of.scheme is None and len(names) > 1:
        raise UserError(f"figure `{of.kind}`: is of one scheme: choose one of {', '.join(names)}")
    runs = [run for run in cells.along(of.path, (down, across)) if of.scheme in (None, run.scheme)]
    places = {(float(cells.axes[run.path][down]), float(cells.axes[run.path][across])): run.path for run in runs}
    ys, xs = (sorted({place[index] for place in places}) for index in (0, 1))
    values = [
        [
            mean(
                scaled("utilization", run.content["network"]["utilization"])
                for run in runs
                if run.path == places.get((y, x))
            )
            for x in xs
        ]
        for y in ys
    ]
    drawing = heatmap_figure(
        of.name,
        MapAxis(across, [f"{x:g}" for x in xs]),
        MapAxis(down, [f"{y:g}" for y in ys]),
        values,
        "Use of the bottleneck (%)",
        (0.0, 100.0),
    )
    rows: list[list[object]] = [
        [y, x, value] for y, each in zip(ys, values, strict=True) for x, value in zip(xs, each, strict=True)
    ]
    columns = {down: "number", across: "number", "utilization_percent": "number"}
    return of.drawn(of.model.name, drawing, columns, lambda: rows, "no run counts")
