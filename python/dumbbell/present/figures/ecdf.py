"""Distribution of a metric over the runs of each scheme, as eCDFs; throughput unless one is given."""

import numpy

from dumbbell.base.errors import UserError
from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.plots import FEW, EcdfLine, ecdf_figure, metric_axis, scheme_strokes

SCOPE = PATH
OPTIONS = ("metric", "schemes")


def draw(of: OfResults) -> Drawn:
    """Draws which part of the runs of a scheme have at most such a value."""
    path, schemes = of.one_path, of.schemes
    metric = of.metric(of.options.metric) or of.main_metrics[0]
    if len(schemes) > FEW:
        raise UserError(
            f"figure `{of.kind}`: {len(schemes)} lines are too many: `schemes` chooses up to {FEW}; `box` has all"
        )
    runs = of.runs_on(path)
    strokes = scheme_strokes([of.model.styles[scheme.name] for scheme in schemes])
    lines, rows = [], list[list[object]]()
    for scheme, stroke in zip(schemes, strokes, strict=True):
        found = (metric.value(run.content) for run in runs if run.scheme == scheme.name)
        values = sorted(value for value in found if value is not None)
        if values:
            lines.append(EcdfLine(scheme.title, stroke, numpy.array(values), scheme.name))
            rows += [[scheme.name, value, (place + 1) / len(values)] for place, value in enumerate(values)]
    axis = metric_axis(metric.axis, [float(value) for line in lines for value in line.values], metric.unit)
    columns = {"scheme": "text", metric.column: "number", "part": "number"}
    drawing = ecdf_figure(of.name, lines, axis) if lines else ""
    why, shows = f"no run on {path} that counts has it", f"distribution of {metric.title} over the runs of each scheme"
    return of.drawn(path, drawing, columns, lambda: rows, why, [metric], shows)
