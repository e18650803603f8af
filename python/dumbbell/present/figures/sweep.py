"""Metrics of each scheme along an axis of a grid: throughput, delay and loss unless one is given."""

from dumbbell.base.errors import UserError
from dumbbell.present.cells import Cells, all_schemes
from dumbbell.present.figure_metrics import FigureMetric
from dumbbell.present.figure_request import Drawn, OfResults
from dumbbell.present.figures import GRID
from dumbbell.present.plots import FEW, SweepLine, SweepPanel, grouped_strokes, scheme_strokes, sweep_figure
from dumbbell.present.report.content import RunEntry
from dumbbell.present.report.drawn.overview import bars_text, interval
from dumbbell.present.tables import Table
from dumbbell.results.analysis.axis_words import axis_heading, axis_phrase
from dumbbell.results.analysis.summary import Estimate

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
    runs = cells.along(of.path, tuple(filter(None, (axis, by))), group_by=by is None)
    places = cells.values(axis, runs)
    groups = cells.values(by, runs) if by else dict.fromkeys(places, "")
    values = list(dict.fromkeys(places.values()))
    wanted = [(scheme, group) for scheme in of.schemes for group in dict.fromkeys(groups.values())]
    if len(wanted) > FEW:
        raise UserError(f"figure `{of.kind}`: {len(wanted)} lines cannot be told apart: `schemes` chooses up to {FEW}")
    looks = [of.model.styles[scheme.name] for scheme, _ in wanted]
    strokes = grouped_strokes(looks, [group for _, group in wanted]) if by else scheme_strokes(looks)
    one = of.metric(options.metric)
    panels, rows, estimates = [], list[list[object]](), list[tuple[FigureMetric, list[Estimate | None]]]()
    metrics = [one] if one else of.main_metrics
    for metric in metrics:
        lines = []
        for (scheme, group), stroke in zip(wanted, strokes, strict=True):
            own = [run for run in runs if run.scheme == scheme.name and groups[run.path] == group]
            found = [_estimate(metric, [run for run in own if places[run.path] == value]) for value in values]
            estimates.append((metric, found))
            label = f"{scheme.title}, {axis_phrase(by, group)}" if by else scheme.title
            means = [each.mean if each else None for each in found]
            lines.append(
                SweepLine(label, stroke, means, [interval(each) if each else None for each in found], scheme.name)
            )
            rows += [
                [scheme.name, *([group] if by else []), axis, value, metric.column]
                + ([each.mean, each.low, each.high, each.count] if each else [None, None, None, 0])
                for value, each in zip(values, found, strict=True)
            ]
        panels.append(SweepPanel(metric.axis, lines))
    columns = {"scheme": "text", **({"group": "text"} if by else {}), "axis": "text", "value": "text"}
    columns |= {"metric": "text", "mean": "number", "low": "number", "high": "number", "runs": "integer"}
    drawing = sweep_figure(of.name, axis_heading(axis), values, panels) if runs else ""
    bars = bars_text(each for _, row in estimates for each in row if each)
    shows = f"{', '.join(metric.title for metric in metrics)} of each scheme along {axis}"
    shows += f", with the {bars}" if bars else ""

    def paper() -> Table:
        labels = [line.label for panel in panels for line in panel.lines]
        found = [
            [metric.axis, label, *(metric.estimate_text(each) for each in row)]
            for label, (metric, row) in zip(labels, estimates, strict=True)
        ]
        head = ["metric", f"scheme / {axis_heading(axis)}", *values]
        return Table.of(head, found, align=f"ll{'r' * len(values)}")

    return of.drawn(of.model.name, drawing, columns, lambda: rows, "no run counts", metrics, shows, paper)


def _estimate(metric: FigureMetric, runs: list[RunEntry]) -> Estimate | None:
    values = [value for run in runs if (value := metric.value(run.content)) is not None]
    return metric.mean_of(values) if values else None
