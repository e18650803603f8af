"""Throughput, delay and loss of each scheme along the last axis of a grid."""

from dumbbell.present.cells import Cells, all_schemes, mean, scaled
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.plots import SweepLine, SweepPanel, scheme_strokes, sweep_figure
from dumbbell.present.report.over_time import LABELS

SCOPE = GRID


def draw(of: OfResults) -> Drawn:
    """Draws the mean of each metric at each value of the axis."""
    all_schemes(of.kind, of.scheme)
    cells, model = Cells(of.model, of.kind), of.model
    (axis,) = cells.quantities(1)
    runs = cells.along(of.path, (axis,))
    values = sorted({float(cells.axes[run.path][axis]) for run in runs})
    strokes = scheme_strokes([model.styles[scheme.name] for scheme in model.schemes])
    panels, rows = [], list[list[object]]()
    for metric, label in LABELS.items():
        lines = []
        for scheme, stroke in zip(model.schemes, strokes, strict=True):
            means = [
                mean(
                    scaled(metric, run.content["network"][metric])
                    for run in runs
                    if run.scheme == scheme.name and cells.axes[run.path][axis] == value
                )
                for value in values
            ]
            lines.append(SweepLine(scheme.title, stroke, means))
            rows += [[scheme.name, axis, value, metric, found] for value, found in zip(values, means, strict=True)]
        panels.append(SweepPanel(label, lines))
    columns = {"scheme": "text", "axis": "text", "value": "number", "metric": "text", "mean": "number"}
    drawing = sweep_figure(of.name, axis, [f"{value:g}" for value in values], panels)
    return of.drawn(model.name, drawing, columns, lambda: rows, "no run counts")
