"""Statistics of runs from any source, checked before use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from dumbbell.base.errors import UserError, listed
from dumbbell.base.json_types import typed
from dumbbell.catalog.published import MOST_METRIC
from dumbbell.contract.run import RunStatistics, Status
from dumbbell.core.metrics import labels, metric_definitions
from dumbbell.results.clocks import check_clocks
from dumbbell.results.numbers import is_number

ACCEPTED = ("done", "degraded")
"""Statuses of a run that was made as well as this machine can; only the numbers of `done` runs enter averages."""
STATUSES = (*ACCEPTED, "invalid", "failed")
"""Statuses of runs that were made."""
_PRODUCT = "(Mbit/s)^n"
"""Unit of metrics that grow with the number of flows: these may be any finite number."""


def prepare() -> None:
    """Read the types and metrics that `require_statistics` needs. A plug-in may remove all modules of its process."""
    require_statistics("", {"status": ACCEPTED[0], "flows": [], "links": [], "network": {"duration_s": 0.0}})


def require_statistics(where: str, content: object) -> RunStatistics:
    """Return the statistics of a run from content of any source.

    Raises:
        UserError: The line names the key and the allowed values, after `where`.
    """
    status = content.get("status", ACCEPTED[0]) if isinstance(content, dict) else ACCEPTED[0]
    if isinstance(status, str) and status not in STATUSES:
        raise UserError(f"{where}: `status` = {status}: allowed are {listed(STATUSES)}")
    try:
        statistics = typed(content, RunStatistics)
        for level, tables in (
            ("network", [statistics["network"]]),
            ("flow", statistics["flows"]),
            ("link", statistics["links"]),
        ):
            for table in tables:
                _require_possible(level, table)
    except UserError as error:
        raise UserError(f"{where}: {error}: not the statistics of a run") from None
    check_clocks(where, statistics)
    return statistics


def _require_possible(level: str, table: Mapping[str, object]) -> None:
    """Refuse metrics that are larger than any measured value."""
    for name, value in _large_numbers(table):
        if (level, name) in _limited():
            raise UserError(f"`{level}.{name}` = {value:g}: allowed is up to {MOST_METRIC:g}")


def _large_numbers(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield numbers beyond the limit of a table, and of the tables and lists of tables in it, by name."""
    for name, value in table.items():
        if type(value) is float or type(value) is int:  # nearly all are
            if not -MOST_METRIC <= value <= MOST_METRIC:
                yield prefix + name, value
        else:
            for entry in value if isinstance(value, list) else [value]:
                if isinstance(entry, dict):
                    yield from _large_numbers(entry, f"{prefix}{name}.")
                elif is_number(entry) and not -MOST_METRIC <= entry <= MOST_METRIC:
                    yield prefix + name, entry


@cache
def _limited() -> frozenset[tuple[str, str]]:
    """Return the metrics and labels that have a limit, by level and name."""
    limited_metrics = [
        (metric["level"], metric["name"]) for metric in metric_definitions() if metric["unit"] != _PRODUCT
    ]
    return frozenset([*limited_metrics, *((metric["level"], metric["name"]) for metric in labels())])


def unsuccessful(backend: str, status: Status, reason: str) -> RunStatistics:
    """Return the statistics of a run without results."""
    return {
        "backend": backend,
        "status": status,
        "reason": reason,
        "flows": [],
        "links": [],
        "network": {},
        "sim_wall_s": None,
        "events": None,
    }
