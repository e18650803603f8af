"""One metric over another, throughput over delay unless others are given: every run."""

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import DrawnFigure, ResultsFigureRequest

SCOPE = PATH
OPTIONS = ("x", "y", "schemes")


def draw(request: ResultsFigureRequest) -> DrawnFigure:
    """Draw a point for each run."""
    overview, path = request.overview, request.one_path
    x, y = overview.x, overview.y
    problem = f"none of the runs on {path} that count has {y.title} and {x.title}"
    complete_runs = [run for run in request.runs_on(path) if None not in (x.value(run.content), y.value(run.content))]
    has_clocks = any(run.clocks for run in complete_runs)
    columns = {"path": "text", "scheme": "text", "run": "integer", y.column: "number", x.column: "number"}
    columns |= {f"{x.column}_clocks_{end}": "number" for end in ("low", "high") if has_clocks}

    def rows() -> list[list[object]]:
        lines: list[list[object]] = []
        for run in complete_runs:
            clocks = (run.interval("network", 0, x.key) or (None, None)) if has_clocks else ()
            lines.append([path, run.scheme, run.number, y.value(run.content), x.value(run.content), *clocks])
        return lines

    shows = f"{y.title} over {x.title}: every run"
    return request.make_figure(path, overview.draw("runs", path, request.name), columns, rows, problem, [y, x], shows)
