"""One metric over another, throughput over delay unless others are given: every run."""

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import Drawn, OfResults

SCOPE = PATH
OPTIONS = ("x", "y", "schemes")


def draw(of: OfResults) -> Drawn:
    """Draws a point for each run."""
    found, path = of.overview, of.one_path
    x, y = found.x, found.y
    why = f"none of the runs on {path} that count has {y.title} and {x.title}"
    known = [run for run in of.runs_on(path) if None not in (x.value(run.content), y.value(run.content))]
    timed = any(run.clocks for run in known)
    columns = {"path": "text", "scheme": "text", "run": "integer", y.column: "number", x.column: "number"}
    columns |= {f"{x.column}_clocks_{end}": "number" for end in ("low", "high") if timed}

    def rows() -> list[list[object]]:
        made: list[list[object]] = []
        for run in known:
            clocks = (run.interval("network", 0, x.key) or (None, None)) if timed else ()
            made.append([path, run.scheme, run.number, y.value(run.content), x.value(run.content), *clocks])
        return made

    shows = f"{y.title} over {x.title}: every run"
    return of.drawn(path, found.draw("runs", path, of.name), columns, rows, why, [y, x], shows)
