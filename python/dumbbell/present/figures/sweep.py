"""Metrics of each scheme along an axis of a grid: throughput, delay and loss unless one is given."""

import itertools
from dataclasses import replace

from dumbbell.base.errors import UserError
from dumbbell.present.figures import GRID
from dumbbell.present.model.cells import Cells, all_schemes
from dumbbell.present.model.content import RunEntry
from dumbbell.present.model.figure_metrics import FigureMetric
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.overview import bars_text, interval
from dumbbell.present.plots import FEW, SweepLine, SweepPanel, scheme_strokes, sweep_figure
from dumbbell.present.tables import Table
from dumbbell.results.analysis.axis_words import axis_heading, axis_phrase
from dumbbell.results.analysis.summary import Estimate

SCOPE = GRID
OPTIONS = ("x", "metric", "schemes", "group_by")

_MOST_PANELS = 6  # side by side


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the mean of each metric at each value of the axis: the last axis of numbers unless `x` names one.

    With `group_by`, each metric has a panel for each value of that second axis, side by side. If only two axes vary and
    both are of numbers, the figure groups by the axis that it does not go along.
    """
    all_schemes(request.kind, request.scheme)
    cells, options = Cells(request.model, request.kind), request.options
    by = cells.axis(options.group_by) if options.group_by else _other(cells, request.path, options.x)
    axis = cells.axis(options.x) if options.x else _last(cells, by)
    if by == axis:
        raise UserError(f"figure `{request.kind}`: `group_by` = {by}: this is the axis that the figure goes along")
    runs = cells.along(request.path, tuple(filter(None, (axis, by))), group_by=by is None)
    places = cells.values(axis, runs)
    groups = cells.values(by, runs) if by else dict.fromkeys(places, "")
    values = list(dict.fromkeys(places.values()))
    columns = list(dict.fromkeys(groups.values()))
    if len(request.schemes) > FEW:
        hint = f"`schemes` chooses up to {FEW}"
        raise UserError(f"figure `{request.kind}`: {len(request.schemes)} lines cannot be told apart: {hint}")
    if len(columns) > _MOST_PANELS:
        raise UserError(
            f"figure `{request.kind}`: `group_by` = {by}: it has {len(columns)} values: allowed are axes of up to "
            f"{_MOST_PANELS}"
        )
    strokes = scheme_strokes([request.model.styles[scheme.name] for scheme in request.schemes])
    chosen_metric = request.metric(options.metric)
    panels, rows, estimates = [], list[list[object]](), list[tuple[str, FigureMetric, list[Estimate | None]]]()
    metrics = [chosen_metric] if chosen_metric else request.main_metrics
    for metric, group in itertools.product(metrics, columns):
        lines = []
        for scheme, stroke in zip(request.schemes, strokes, strict=True):
            scheme_runs = [run for run in runs if run.scheme == scheme.name and groups[run.path] == group]
            cell_means = [
                _estimate(metric, [run for run in scheme_runs if places[run.path] == value]) for value in values
            ]
            label = f"{scheme.title}, {axis_phrase(by, group)}" if by else scheme.title
            estimates.append((label, metric, cell_means))
            means = [estimate.mean if estimate else None for estimate in cell_means]
            ends = [interval(estimate) if estimate else None for estimate in cell_means]
            lines.append(SweepLine(scheme.title, stroke, means, ends, scheme.name))
            rows += [
                [scheme.name, *([group] if by else []), axis, value, metric.column]
                + ([estimate.mean, estimate.low, estimate.high, estimate.count] if estimate else [None, None, None, 0])
                for value, estimate in zip(values, cell_means, strict=True)
            ]
        panels.append(SweepPanel(metric.axis, lines))
    head = {"scheme": "text", **({"group": "text"} if by else {}), "axis": "text", "value": "text"}
    head |= {"metric": "text", "mean": "number", "low": "number", "high": "number", "runs": "integer"}
    bars = bars_text(estimate for _, _, row in estimates for estimate in row if estimate)
    note = request.note([estimate.count for _, _, row in estimates for estimate in row if estimate], bars)
    titles = [axis_phrase(by, group) for group in columns] if by else ()
    drawing = sweep_figure(request.name, axis_heading(axis), values, panels, titles, note) if runs else ""
    shows = f"{', '.join(metric.title for metric in metrics)} of each scheme along {axis_heading(axis)}"
    shows += f", for each {axis_heading(by)}" if by else ""
    shows += f", with the {bars}" if bars else ""

    def paper() -> Table:
        body = [
            [metric.axis, label, *(metric.estimate_text(estimate) for estimate in row)]
            for label, metric, row in estimates
        ]
        titles = ["metric", f"scheme / {axis_heading(axis)}", *values]
        return Table.of(titles, body, align=f"ll{'r' * len(values)}")

    figure = request.make_figure(
        request.experiment_name, drawing, head, lambda: rows, "no run counts", metrics, shows, paper
    )
    beside = "Points stand side by side around their value." if bars and len(request.schemes) > 1 else ""
    return replace(figure, runs_note=f"{figure.runs_note} {beside}".strip())


def _other(cells: Cells, path: str | None, along: str | None) -> str | None:
    """Return the second axis if exactly two axes vary, both of numbers, and no cell is chosen; otherwise None."""
    if path is not None or len(cells.numbers) != 2 or set(cells.varied) != set(cells.numbers):
        return None
    return next((name for name in cells.numbers if name != (along or cells.numbers[-1])), None)


def _last(cells: Cells, by: str | None) -> str:
    """Return the last axis of numbers other than `by`."""
    (last,) = cells.quantities(1)
    return cells.quantities(2)[0] if last == by else last


def _estimate(metric: FigureMetric, runs: list[RunEntry]) -> Estimate | None:
    values = [value for run in runs if (value := metric.value(run.content)) is not None]
    return metric.mean_of(values) if values else None
