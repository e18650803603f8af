"""Metrics of each scheme along an axis of a grid: throughput, delay and loss unless one is given."""

from dumbbell.base.errors import UserError
from dumbbell.present.cells import Cells, all_schemes, mean
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.plots import FEW, Stroke, SweepLine, SweepPanel, scheme_strokes, sweep_figure
from dumbbell.present.tables import Table
from dumbbell.present.tables.terminal import number
from dumbbell.results.analysis.axis_words import axis_heading

SCOPE = GRID
OPTIONS = ("x", "metric", "schemes", "group_by")


def draw(of: OfResults) -> Drawn:
    """Draws the mean of each metric at each value of the axis: the last one of numbers unless `x` names another.

    Grouped by an axis, each scheme has a line for each of its values.
    """
    all_schemes(of.kind, of.scheme)
    cells, options = Cells(of.model, of.kind), of.options
    axis = cells.axis(options.x) if options.x else cells.quantities(1)[0]
    by = cells.axis(options.group_by) if options.group_by else None
    if by == axis:
        raise UserError(f"figure `{of.kind}`: `group_by` = {by}: this is the axis that the figure goes along")
    runs = cells.along(of.path, tuple(filter(None, (axis, by))))
    places = cells.values(axis, runs)
    groups = cells.values(by, runs) if by else dict.fromkeys(places, "")
    values = list(dict.fromkeys(places.values()))
    wanted = [(scheme, group) for scheme in of.schemes for group in dict.fromkeys(groups.values())]
    if len(wanted) > FEW:
        raise UserError(f"figure `{of.kind}`: {len(wanted)} lines cannot be told apart: `schemes` chooses up to {FEW}")
    strokes: list[Stroke] = scheme_strokes([of.model.styles[scheme.name] for scheme, _ in wanted])
    one = of.metric(options.metric)
    panels, rows = [], list[list[object]]()
    metrics = [one] if one else of.main_metrics
    for metric in metrics:
        lines = []
        for (scheme, group), stroke in zip(wanted, strokes, strict=True):
            means = [
                mean(
                    metric.value(run.content)
                    for run in runs
                    if run.scheme == scheme.name and (places[run.path], groups[run.path]) == (value, group)
                )
                for value in values
            ]
            label = f"{scheme.title}, {by} {group}" if by else scheme.title
            lines.append(SweepLine(label, stroke, means, scheme=scheme.name))
            ends = [group] if by else []
            rows += [
                [scheme.name, *ends, axis, value, metric.column, found]
                for value, found in zip(values, means, strict=True)
            ]
        panels.append(SweepPanel(metric.axis, lines))
    columns = {"scheme": "text", **({"group": "text"} if by else {}), "axis": "text", "value": "text"}
    columns |= {"metric": "text", "mean": "number"}
    drawing = sweep_figure(of.name, axis_heading(axis), values, panels) if runs else ""
    shows = f"{', '.join(metric.title for metric in metrics)} of each scheme along {axis}"

    def paper() -> Table:
        found = [
            [metric.axis, line.label, *(number(each, metric.digits) for each in line.values)]
            for metric, panel in zip(metrics, panels, strict=True)
            for line in panel.lines
        ]
        head = ["metric", f"scheme / {axis_heading(axis)}", *values]
        return Table.of(head, found, align=f"ll{'r' * len(values)}")

    return of.drawn(of.model.name, drawing, columns, lambda: rows, "no run counts", metrics, shows, paper)
