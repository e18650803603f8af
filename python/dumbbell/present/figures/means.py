"""One metric over another, throughput over delay unless others are given: mean of each scheme, and the Pareto front."""

from dataclasses import replace

from dumbbell.present.figures import PATH
from dumbbell.present.model.figure_request import Drawn, OfResults
from dumbbell.present.model.overview import Overview
from dumbbell.present.tables import Field, Table

SCOPE = PATH
OPTIONS = ("x", "y", "schemes")


def draw(of: OfResults) -> Drawn:
    """Draws the means, with where they lie."""
    found, path = of.overview, of.one_path
    why = f"none of the runs on {path} that count has {found.y.title} and {found.x.title}"
    timed = any(mean.x.clocks for mean in found.means[path])
    columns = {"path": "text", "scheme": "text", "runs": "integer"}
    for metric in (found.y, found.x):
        columns |= {name: "number" for name in (metric.column, f"{metric.column}_low", f"{metric.column}_high")}
    columns |= {"in_front": "integer"}
    columns |= {f"{found.x.column}_clocks_{end}": "number" for end in ("low", "high") if timed}
    drawing = found.draw("means", path, of.name)
    shows = f"{found.y.title} over {found.x.title}: mean of each scheme"
    if bars := found.bars(path):
        shows += f", with the {bars}"
    drawn = of.drawn(
        path,
        drawing,
        columns,
        lambda: _rows(found, path, timed),
        why,
        [found.y, found.x],
        shows,
        lambda: _paper(found, path),
    )
    return replace(drawn, made=f"{drawn.made} {found.explained(path)}")


def _rows(found: Overview, path: str, timed: bool) -> list[list[object]]:
    rows: list[list[object]] = []
    for mean in found.means[path]:
        values = [value for each in (mean.y, mean.x) for value in (each.mean, each.low, each.high)]
        clocks = (mean.x.clocks or (None, None)) if timed else ()
        rows.append([path, mean.scheme, mean.y.count, *values, int(mean.in_front), *clocks])
    return rows


def _paper(found: Overview, path: str) -> Table:
    """Return a table with a row for each scheme, the best one upwards first. Schemes on the Pareto front are bold."""
    rows = []
    for mean in sorted(found.means[path], key=lambda mean: mean.y.mean, reverse=found.y.better != "less"):
        texts = (found.y.estimate_text(mean.y), found.x.estimate_text(mean.x))
        name = Field(found.model.scheme_title(mean.scheme), best=mean.in_front)
        rows.append((name, Field(str(mean.y.count)), *map(Field, texts)))
    return Table("", (), ("scheme", "runs", found.y.axis, found.x.axis), tuple(rows))
