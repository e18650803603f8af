"""One metric over another, throughput over delay unless others are given: mean of each scheme, and the Pareto front."""

from dataclasses import replace

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest
from dumbbell.present.model.overview import Overview
from dumbbell.present.tables import Field, Table

SCOPE = PATH
OPTIONS = ("x", "y", "schemes")


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw the mean of each scheme with its interval."""
    overview, path = request.overview, request.one_path
    problem = f"none of the runs on {path} that count has {overview.y.title} and {overview.x.title}"
    has_clocks = any(mean.x.clocks for mean in overview.means[path])
    columns = {"path": "text", "scheme": "text", "runs": "integer"}
    for metric in (overview.y, overview.x):
        columns |= {name: "number" for name in (metric.column, f"{metric.column}_low", f"{metric.column}_high")}
    columns |= {"in_front": "integer"}
    columns |= {f"{overview.x.column}_clocks_{end}": "number" for end in ("low", "high") if has_clocks}
    drawing = overview.draw("means", path, request.name)
    shows = f"{overview.y.title} over {overview.x.title}: mean of each scheme"
    if bars := overview.bars(path):
        shows += f", with the {bars}"
    figure = request.make_figure(
        path,
        drawing,
        columns,
        lambda: _rows(overview, path, has_clocks),
        problem,
        [overview.y, overview.x],
        shows,
        lambda: _paper(overview, path),
    )
    return replace(figure, runs_note=f"{figure.runs_note} {overview.explanation(path)}")


def _rows(overview: Overview, path: str, has_clocks: bool) -> list[list[object]]:
    rows: list[list[object]] = []
    for mean in overview.means[path]:
        values = [value for estimate in (mean.y, mean.x) for value in (estimate.mean, estimate.low, estimate.high)]
        clocks = (mean.x.clocks or (None, None)) if has_clocks else ()
        rows.append([path, mean.scheme, mean.y.count, *values, int(mean.in_front), *clocks])
    return rows


def _paper(overview: Overview, path: str) -> Table:
    """Return a table with a row for each scheme, the best one upwards first. Schemes on the Pareto front are bold."""
    rows = []
    for mean in sorted(overview.means[path], key=lambda mean: mean.y.mean, reverse=overview.y.better != "less"):
        texts = (overview.y.estimate_text(mean.y), overview.x.estimate_text(mean.x))
        name = Field(overview.model.scheme_title(mean.scheme), best=mean.in_front)
        rows.append((name, Field(str(mean.y.count)), *map(Field, texts)))
    return Table("", (), ("scheme", "runs", overview.y.axis, overview.x.axis), tuple(rows))
