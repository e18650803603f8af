"""A metric of every run by scheme, with quartiles and median; throughput unless one is given."""

import statistics

from dumbbell.present.figures import PATH
from dumbbell.present.model.cells import Cells
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.plots import BoxRow, box_figure, metric_axis

SCOPE = PATH
OPTIONS = ("metric", "schemes", "group_by")


def draw(of: OfResults) -> Drawn:
    """Draws a row for each scheme, the best one first; grouped by an axis, one for each of its values."""
    path, options = of.one_path, of.options
    cells = Cells(of.model, of.kind)
    metric = of.metric(options.metric) or of.main_metrics[0]
    by = cells.axis(options.group_by) if options.group_by else None
    runs = cells.along(path, (by,)) if by else of.runs_on(path)
    groups = cells.values(by, runs) if by else {path: ""}
    rows: list[list[object]] = []
    boxes: list[BoxRow] = []
    for group in dict.fromkeys(groups.values()):
        found = []
        for scheme in of.schemes:
            own = [run for run in runs if run.scheme == scheme.name and groups[run.path] == group]
            known = [(run.number, value) for run in own if (value := metric.value(run.content)) is not None]
            if known:
                label = f"{scheme.title}, {by} {group}" if by else scheme.title
                titles = [f"{label}, run {number}: {metric.text(value)}" for number, value in known]
                values = [value for _, value in known]
                found.append(BoxRow(label, of.model.styles[scheme.name], values, titles, scheme.name))
                rows += [[scheme.name, *([group] if by else []), number, value] for number, value in known]
        sign = 1.0 if metric.better == "less" else -1.0
        boxes += sorted(found, key=lambda row: sign * statistics.median(row.values))
    columns = {"scheme": "text", **({"group": "text"} if by else {}), "run": "integer", metric.column: "number"}
    axis = metric_axis(metric.axis, [value for box in boxes for value in box.values], metric.unit)
    drawing = box_figure(of.name, boxes, axis) if boxes else ""
    why, shows = f"no run on {path} that counts has it", f"{metric.title} of every run by scheme"
    return of.drawn(path, drawing, columns, lambda: rows, why, [metric], shows)
