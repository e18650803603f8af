"""Distribution of a metric over the runs of each scheme, as eCDFs; throughput unless one is given."""

import numpy

from dumbbell.base.errors import UserError
from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.plots import FEW, EcdfLine, ecdf_figure, metric_axis, scheme_strokes

SCOPE = PATH
OPTIONS = ("metric", "schemes")


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the cumulative distribution of the metric over the runs of each scheme."""
    path, schemes = request.one_path, request.schemes
    metric = request.metric(request.options.metric) or request.main_metrics[0]
    if len(schemes) > FEW:
        raise UserError(
            f"figure `{request.kind}`: {len(schemes)} lines are too many: `schemes` chooses up to {FEW}; `box` has all"
        )
    runs = request.runs_on(path)
    strokes = scheme_strokes([request.model.styles[scheme.name] for scheme in schemes])
    lines, rows = [], list[list[object]]()
    for scheme, stroke in zip(schemes, strokes, strict=True):
        raw_values = (metric.value(run.content) for run in runs if run.scheme == scheme.name)
        values = sorted(value for value in raw_values if value is not None)
        if values:
            lines.append(EcdfLine(scheme.title, stroke, numpy.array(values), scheme.name))
            rows += [[scheme.name, value, (place + 1) / len(values)] for place, value in enumerate(values)]
    axis = metric_axis(metric.axis, [float(value) for line in lines for value in line.values], metric.unit)
    columns = {"scheme": "text", metric.column: "number", "part": "number"}
    drawing = ecdf_figure(request.name, lines, axis) if lines else ""
    problem, shows = (
        f"no run on {path} that counts has it",
        f"distribution of {metric.title} over the runs of each scheme",
    )
    return request.make_figure(path, drawing, columns, lambda: rows, problem, [metric], shows)
