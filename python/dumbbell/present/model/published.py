"""Table of a report that compares measured numbers with published ones."""

from dumbbell.catalog.published import Mean
from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.result_tables import PANTHEON, ShownMetric
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.published import Beside, replications


def published_tables(model: ReportModel, path: str) -> list[tuple[str, Table]]:
    """Return the table of a path with its heading, in a list; empty if nothing is published."""
    path_rows = [row for row in model.published_rows if row.path == path]
    if not path_rows:
        return []
    rows = []
    for row in path_rows:
        title = model.scheme_title(row.scheme) if row.scheme else row.title
        notes = [
            "" if row.title == title else f"there: {row.title}",
            f"not counted: {row.uncounted}" * bool(row.uncounted),
        ]
        name = Field(title, "\n".join(filter(None, notes)), scheme=row.scheme)
        figures = [field for metric in PANTHEON for field in _figures(metric, row)]
        rows.append((name, Field(str(row.runs), sort=row.runs), *figures))
    caption = (
        f"Published: {model.published_source}. Means over the runs, in parentheses the smallest and the largest run; "
        "Pantheon convention. A row without our numbers is of a scheme that did not run. Errors are "
        f"(ours - published) / published, of the loss rate ours - published in points. {_replication(path_rows)}"
    ).strip()
    groups = (("", 2), *((metric.heading, 3) for metric in PANTHEON))
    columns = ("scheme", "our\u00a0runs", *("ours", "published", "error") * len(PANTHEON))
    return [("Ours beside published", Table(caption, groups, columns, tuple(rows)))]


def _replication(rows: list[Beside]) -> str:
    """Return Pantheon's replication error in a sentence; empty if nothing can be compared."""
    return " ".join(
        f"Replication error: {replication.error * 100:.1f} % (throughput {replication.throughput * 100:.1f} %, "
        f"delay {replication.delay * 100:.1f} %) over {len(replication.schemes)} schemes."
        for replication in replications(rows)
    )


def _figures(metric: ShownMetric, row: Beside) -> tuple[Field, Field, Field]:
    """Return the fields of the measured value, the published value, and the error."""
    error = row.error[metric.key]
    digits, unit = (2, "") if metric.key == "loss_rate" else (0, "\u00a0%")
    error_field = Field("-") if error is None else Field(f"{error * 100:+.{digits}f}{unit}", sort=abs(error))
    return _figure(metric, row.ours.get(metric.key)), _figure(metric, row.published.get(metric.key)), error_field


def _figure(metric: ShownMetric, figure: Mean | None) -> Field:
    if figure is None:
        return Field("-")
    return Field(metric.number(figure.mean), figure.bounds_text(metric.number), figure.mean)
