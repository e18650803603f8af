"""A metric of a scheme over two axes of a grid, as a heat map; use of the bottleneck unless another one is given."""

from dumbbell.base.errors import UserError, listed
from dumbbell.present.cells import Cells, mean
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.paper_table import matrix
from dumbbell.present.plots import MapAxis, heatmap_figure
from dumbbell.present.tables import Table
from dumbbell.results.analysis.axis_words import axis_heading

SCOPE = GRID
OPTIONS = ("x", "y", "metric")

_METRIC = "utilization"


def draw(of: OfResults) -> Drawn:
    """Draws a map of one scheme: the last two axes of numbers unless `x` and `y` name others."""
    cells, options = Cells(of.model, of.kind), of.options
    down, across = _axes(cells, options.y and cells.axis(options.y), options.x and cells.axis(options.x))
    names = [entry.name for entry in of.model.schemes]
    if of.scheme is None and len(names) > 1:
        raise UserError(f"figure `{of.kind}`: is of one scheme: choose it with --scheme: {listed(names)}")
    metric = of.metric(options.metric or _METRIC)
    assert metric is not None
    runs = [run for run in cells.along(of.path, (down, across)) if of.scheme in (None, run.scheme)]
    rows_at, columns_at = cells.values(down, runs), cells.values(across, runs)
    ys, xs = (list(dict.fromkeys(each.values())) for each in (rows_at, columns_at))
    values = [
        [
            mean(metric.value(run.content) for run in runs if (rows_at[run.path], columns_at[run.path]) == (y, x))
            for x in xs
        ]
        for y in ys
    ]
    who = of.model.scheme_title(of.scheme or names[0])
    limits = (0.0, 100.0) if metric.scheme or metric.key == _METRIC else None
    drawing = heatmap_figure(
        of.name,
        MapAxis(axis_heading(across), xs),
        MapAxis(axis_heading(down), ys),
        values,
        f"{who}: {metric.axis}",
        limits,
    )
    rows: list[list[object]] = [
        [y, x, value] for y, each in zip(ys, values, strict=True) for x, value in zip(xs, each, strict=True)
    ]
    columns = {down: "text", across: "text", metric.column: "number"}
    shows = f"{who}: {metric.title} over {across} and {down}"

    def paper() -> Table:
        return matrix(f"{metric.axis} by {axis_heading(down)} / {axis_heading(across)}", ys, xs, values, metric.digits)

    return of.drawn(
        of.model.name, drawing if runs else "", columns, lambda: rows, "no run counts", [metric], shows, paper
    )


def _axes(cells: Cells, y: str | None, x: str | None) -> tuple[str, str]:
    """Return the axes down and across: those that are named, else the last ones of numbers."""
    if y and y == x:
        raise UserError(f"figure `{cells.kind}`: `x` and `y` are the same axis, `{x}`")
    if y and x:
        return y, x
    last = cells.quantities(2)
    if not y and not x:
        return last[0], last[1]
    other = next(name for name in reversed(last) if name not in (y, x))
    return (y, other) if y else (other, x or "")
