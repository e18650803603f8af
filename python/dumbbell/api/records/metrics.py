"""The names of metrics, and the numbers of runs as a table."""

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
    """Refuses names that no metric has.

    Raises:
        dumbbell.Error: the first unknown one, with the closest that there is.
    """
    known = dict.fromkeys(each.name for each in definitions())
    for name in names:
        if name not in known:
            holding = next((f" (did you mean `{each}`?)" for each in known if name and name.casefold() in each), "")
            hint = nearest(name, known) or holding
            raise UserError(f"unknown metric `{name}`{hint}: `dumbbell list metrics` shows all")


def metrics_table(runs: Iterable[RunTable]) -> Table:
    """Every number of the runs, which are as in `dumbbell show --json`; `Results.metrics` has the columns."""
    units = {(each.entity_kind, each.name): each.unit for each in definitions()}
    rows = []
    for run in runs:
        who = [run["path"], run["scheme"], run["run"], run["status"]]
        named = {
            ("network", 0): "",
            **{("flow", index): flow.get("scheme", "") for index, flow in enumerate(run["flows"], 1)},
            **{("link", index): link.get("link", "") for index, link in enumerate(run["links"], 1)},
        }
        for level, number, metric, value in numbers(run):
            unit = units.get((level, metric), "")
            rows.append([*who, level, number, named[level, number], metric, unit, value])
    return Table.of(_COLUMNS, rows)
