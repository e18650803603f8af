"""A metric of each scheme over two axes of a grid, as heat maps; use of the bottleneck unless another one is given."""

from collections import Counter

from dumbbell.base.errors import UserError
from dumbbell.present.figures import GRID
from dumbbell.present.model.cells import Cells, mean
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.paper_table import matrix
from dumbbell.present.plots import MapAxis, MapPanel, maps_figure
from dumbbell.present.tables import Table
from dumbbell.present.tables.terminal import number
from dumbbell.results.analysis.axis_words import axis_heading

SCOPE = GRID
OPTIONS = ("x", "y", "metric", "schemes", "range")

_METRIC = "utilization"


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw a heat map of each scheme, all in the same colours.

    The axes are the last two axes of numbers, unless `x` and `y` name others. The colours span `range`, which makes
    figures comparable; without it they span the drawn values.
    """
    cells, options = Cells(request.model, request.kind), request.options
    down, across = _axes(cells, options.y and cells.axis(options.y), options.x and cells.axis(options.x))
    if request.scheme is not None and options.schemes:
        raise UserError(f"figure `{request.kind}`: `scheme` and `schemes`: allowed is one of them")
    entries = [entry for entry in request.schemes if request.scheme in (None, entry.name)]
    metric = request.metric(options.metric or _METRIC)
    assert metric is not None
    names = [entry.name for entry in entries]
    runs = [run for run in cells.along(request.path, (down, across)) if run.scheme in names]
    rows_at, columns_at = cells.values(down, runs), cells.values(across, runs)
    ys, xs = (list(dict.fromkeys(places.values())) for places in (rows_at, columns_at))

    def value(scheme: str, y: str, x: str) -> float | None:
        cell_runs = [run for run in runs if (run.scheme, rows_at[run.path], columns_at[run.path]) == (scheme, y, x)]
        return mean(metric.value(run.content) for run in cell_runs)

    maps = {entry: [[value(entry.name, y, x) for x in xs] for y in ys] for entry in entries}
    limits = (0.0, 100.0) if metric.scheme or metric.key == _METRIC else None
    only_scheme = entries[0].title if len(entries) == 1 else ""
    panels = [MapPanel("" if only_scheme else entry.title, values) for entry, values in maps.items()]
    axes = (MapAxis(axis_heading(across), xs), MapAxis(axis_heading(down), ys))
    title = f"{only_scheme}: {metric.axis}" if only_scheme else metric.axis
    counts = Counter((run.scheme, run.path) for run in runs if metric.value(run.content) is not None)
    title = "\n".join(filter(None, (title, request.note(list(counts.values())))))
    drawing = maps_figure(request.name, *axes, panels, title, options.range or limits) if runs else ""
    rows: list[list[object]] = [
        [entry.name, y, x, value]
        for entry, values in maps.items()
        for y, row_values in zip(ys, values, strict=True)
        for x, value in zip(xs, row_values, strict=True)
    ]
    columns = {"scheme": "text", down: "text", across: "text", metric.column: "number"}
    shows = f"{f'{only_scheme}: ' if only_scheme else ''}mean {metric.title}"
    shows += "" if only_scheme else f"{',' * (',' in metric.title)} of each scheme"
    shows += f" over {axis_heading(across)} and {axis_heading(down)}"

    def paper() -> Table:
        corner = f"{axis_heading(down)} / {axis_heading(across)}"
        if only_scheme:
            return matrix(f"{metric.axis} by {corner}", ys, xs, maps[entries[0]], metric.digits)
        body = [
            [entry.title, y, *(number(value, metric.digits) for value in row_values)]
            for entry, values in maps.items()
            for y, row_values in zip(ys, values, strict=True)
        ]
        return Table.of(["scheme", f"{metric.axis} by {corner}", *xs], body, align=f"ll{'r' * len(xs)}")

    return request.make_figure(
        request.experiment_name, drawing, columns, lambda: rows, "no run counts", [metric], shows, paper
    )


def _axes(cells: Cells, y: str | None, x: str | None) -> tuple[str, str]:
    """Return the axes down and across: the named ones, otherwise the last axes of numbers."""
    if y and y == x:
        raise UserError(f"figure `{cells.kind}`: `x` and `y` are the same axis, `{x}`")
    if y and x:
        return y, x
    last = cells.quantities(2)
    if not y and not x:
        return last[0], last[1]
    partner = next(name for name in reversed(last) if name not in (y, x))
    return (y, partner) if y else (partner, x or "")
