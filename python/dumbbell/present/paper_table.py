"""Tables for papers with the numbers of a figure: titles and units in the head, intervals beside means."""

from dumbbell.base.digits import decimal
from dumbbell.base.errors import UserError
from dumbbell.present.model.figure_metrics import FigureMetric, find_metric
from dumbbell.present.tables import Table
from dumbbell.present.tables.terminal import number
from dumbbell.results.series.table import Table as Numbers

MOST_ROWS = 100
"""Maximum rows of a table: a page has no room for more."""


def paper_table(numbers: Numbers) -> Table:
    """Return all rows of a figure's numbers. A text column is left out if all of several rows have the same text."""
    rows = list(numbers.rows())
    names = [name for name in numbers if not _is_constant([row[name] for row in rows])]
    metrics = {name: metric for name in names if (metric := _metric(name)) is not None}
    heads = [metrics[name].axis if name in metrics else name.replace("_", " ") for name in names]
    return Table.of(heads, [[_field(row[name], metrics.get(name)) for name in names] for row in rows])


def require_rows(table: Table, file: str) -> None:
    """Refuse a table that has too many rows for a page.

    Raises:
        UserError: The table has more than `MOST_ROWS` rows; the message starts with `file`.
    """
    if len(table.rows) > MOST_ROWS:
        raise UserError(
            f"{file}: the figure has {len(table.rows)} numbers: allowed are at most {MOST_ROWS} rows in LaTeX"
        )


def matrix(corner: str, down: list[str], across: list[str], values: list[list[float | None]], digits: int) -> Table:
    """Return a table with a row for each name in `down` and a column for each in `across`."""
    rows = [[name, *(number(value, digits) for value in row)] for name, row in zip(down, values, strict=True)]
    return Table.of([corner, *across], rows, align=f"l{'r' * len(across)}")


def _is_constant(values: list[object]) -> bool:
    return len(values) > 1 and isinstance(values[0], str) and len(set(values)) == 1


def _metric(name: str) -> FigureMetric | None:
    try:
        return find_metric(name, ())
    except UserError:
        return None


def _field(value: object, metric: FigureMetric | None) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if metric is not None:
        return decimal(value, metric.digits)
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.0f}"
