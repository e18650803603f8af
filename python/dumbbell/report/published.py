"""The report's table of our numbers beside published ones."""

from dumbbell.catalog.published import Mean
from dumbbell.report.fields import Field, Table
from dumbbell.report.model import ReportModel
from dumbbell.report.tables import PANTHEON, ShownMetric


def published_tables(model: ReportModel, path: str) -> list[tuple[str, Table]]:
    """The table of a path with its heading, in a list; none if nothing is published."""
    found = [row for row in model.published if row.path == path]
    if not found:
        return []
    rows = []
    for row in found:
        title = model.scheme_title(row.scheme) if row.scheme else row.title
        name = Field(title, "" if row.title == title else f"there: {row.title}", scheme=row.scheme)
        figures = [_figure(metric, side.get(metric.key)) for metric in PANTHEON for side in (row.ours, row.published)]
        rows.append((name, Field(str(row.runs), sort=row.runs), *figures))
    caption = (
        f"Published: {model.published_source}. Means over the runs, in parentheses the smallest and the largest run; "
        "Pantheon convention. A row without our numbers is of a scheme that did not run."
    )
    groups = (("", 2), *((metric.heading, 2) for metric in PANTHEON))
    columns = ("scheme", "our\u00a0runs", *("ours", "published") * len(PANTHEON))
    return [("Ours beside published", Table(caption, groups, columns, tuple(rows)))]


def _figure(metric: ShownMetric, figure: Mean | None) -> Field:
    if figure is None:
        return Field("-")
    return Field(metric.number(figure.mean), figure.bounds_text(metric.number), figure.mean)
