"""A metric of every run by scheme, with quartiles and median; throughput unless one is given."""

import statistics

from dumbbell.present.figures import PATH
from dumbbell.present.model.cells import Cells
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.plots import BoxRow, box_figure, metric_axis

SCOPE = PATH
OPTIONS = ("metric", "schemes", "group_by")


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw a row for each scheme, the best first; with `group_by`, group by group along an axis."""
    path, options = request.one_path, request.options
    cells = Cells(request.model, request.kind)
    metric = request.metric(options.metric) or request.main_metrics[0]
    by = cells.axis(options.group_by) if options.group_by else None
    runs = cells.along(path, (by,)) if by else request.runs_on(path)
    groups = cells.values(by, runs) if by else {path: ""}
    rows: list[list[object]] = []
    boxes: list[BoxRow] = []
    for group in dict.fromkeys(groups.values()):
        group_boxes = []
        for scheme in request.schemes:
            scheme_runs = [run for run in runs if run.scheme == scheme.name and groups[run.path] == group]
            numbered_values = [
                (run.number, value) for run in scheme_runs if (value := metric.value(run.content)) is not None
            ]
            if numbered_values:
                label = f"{scheme.title}, {by} {group}" if by else scheme.title
                titles = [f"{label}, run {number}: {metric.text(value)}" for number, value in numbered_values]
                values = [value for _, value in numbered_values]
                group_boxes.append(BoxRow(label, request.model.styles[scheme.name], values, titles, scheme.name))
                rows += [[scheme.name, *([group] if by else []), number, value] for number, value in numbered_values]
        sign = 1.0 if metric.better == "less" else -1.0
        boxes += sorted(group_boxes, key=lambda row: sign * statistics.median(row.values))
    columns = {"scheme": "text", **({"group": "text"} if by else {}), "run": "integer", metric.column: "number"}
    axis = metric_axis(metric.axis, [value for box in boxes for value in box.values], metric.unit)
    drawing = box_figure(request.name, boxes, axis) if boxes else ""
    problem, shows = f"no run on {path} that counts has it", f"{metric.title} of every run by scheme"
    return request.make_figure(path, drawing, columns, lambda: rows, problem, [metric], shows)
