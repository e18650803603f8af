"""Names of metrics, and the numbers of runs as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, nearest
from dumbbell.results.numbers import definitions, numbers
from dumbbell.results.series.table import Table

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

_COLUMNS = {
    "path": "text",
    "scheme": "text",
    "run": "integer",
    "status": "text",
    "level": "text",
    "number": "integer",
    "of": "text",
    "metric": "text",
    "unit": "text",
    "value": "number",
}


def check_metrics(names: Iterable[str]) -> None:
    """Raise an error for names that no metric has.

    Raises:
        dumbbell.Error: If a name is unknown; the message has the closest one.
    """
    names_known = dict.fromkeys(definition.name for definition in definitions())
    for name in names:
        if name not in names_known:
            holding = next(
                (
                    f" (did you mean `{known_name}`?)"
                    for known_name in names_known
                    if name and name.casefold() in known_name
                ),
                "",
            )
            hint = nearest(name, names_known) or holding
            raise UserError(f"unknown metric `{name}`{hint}: `dumbbell list metrics` shows all")


def metrics_table(runs: Iterable[RunTable]) -> Table:
    """Return every number of the runs, given as in `dumbbell show --json`; `Results.metrics` describes the columns."""
    units = {(definition.entity_kind, definition.name): definition.unit for definition in definitions()}
    rows = []
    for run in runs:
        run_fields = [run["path"], run["scheme"], run["run"], run["status"]]
        name_of = {
            ("network", 0): "",
            **{("flow", index): flow.get("scheme", "") for index, flow in enumerate(run["flows"], 1)},
            **{("link", index): link.get("link", "") for index, link in enumerate(run["links"], 1)},
        }
        for level, number, metric, value in numbers(run):
            unit = units.get((level, metric), "")
            rows.append([*run_fields, level, number, name_of[level, number], metric, unit, value])
    return Table.of(_COLUMNS, rows)
