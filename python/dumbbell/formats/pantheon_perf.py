"""`pantheon_perf.json`: the numbers computed by Pantheon's analysis, for runs without logs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.base.json_types import typed
from dumbbell.base.names import is_name
from dumbbell.core.metrics import metric_definitions
from dumbbell.formats.pantheon_text import read_text

if TYPE_CHECKING:
    from dumbbell.contract.statistics import RunStats

PERFORMANCE = "pantheon_perf.json"
_MOST_BYTES = 64 << 20
_NUMBER = re.compile(r"[0-9]{1,4}")
_METRICS = {"tput": "throughput_mbps", "delay": "delay_p95_ms", "loss": "loss_rate"}


class Numbers(TypedDict, total=False):
    """Numbers of a flow, or of all flows of a run."""

    tput: float | None
    delay: float | None
    loss: float | None


Flows = dict[str, Numbers]
"""Numbers by flow; `all` means all flows together."""
Runs = dict[str, dict[int, Flows]]
"""Numbers by scheme, run and flow."""


def read_performance(source: Path, strict: bool) -> tuple[Runs, list[str]]:
    """Return the numbers in a data directory, and the reason if the file is left out. Without a file there are none.

    Raises:
        UserError: If `strict`, and the file is not from Pantheon's analysis.
    """
    file = source / PERFORMANCE
    try:
        return _read(file, strict), []
    except FileNotFoundError:
        return {}, []
    except UserError as error:
        if strict:
            raise
        return {}, [str(error)]


def _read(file: Path, strict: bool) -> Runs:
    try:
        value = parse_json(read_text(file, strict, _MOST_BYTES)[0])
    except BadJson as error:
        raise UserError(f"{file}:{error.line}: {error.reason}") from None
    try:
        content = typed(value, dict[str, dict[str, Flows]])
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    return {scheme: _runs(table) for scheme, table in content.items() if is_name(scheme)}


def _runs(table: Mapping[str, Flows]) -> dict[int, Flows]:
    by_number = {int(number): flows for number, flows in table.items() if _NUMBER.fullmatch(number)}
    return {number: flows for number, flows in by_number.items() if number > 0 and "all" in flows}


def statistics_of(flows: Flows, schemes: list[str]) -> RunStats:
    """Return the statistics of a run with only these known numbers; `schemes` are those of its flows."""
    by_number = {int(flow): values for flow, values in flows.items() if _NUMBER.fullmatch(flow)}
    flow_statistics: list[dict[str, object]] = [
        {
            "flow": number,
            "scheme": schemes[min(max(number, 1), len(schemes)) - 1],
            **_absent("flow"),
            **_metrics_of(values),
        }
        for number, values in sorted(by_number.items())
    ]
    network = {**_absent("network"), "completions": [], **_metrics_of(flows["all"])}
    run_statistics = {"flows": flow_statistics, "links": [], "network": network, "events": None, "sim_wall_s": None}
    return cast("RunStats", run_statistics)


def _metrics_of(table: Mapping[str, object]) -> dict[str, object]:
    return {metric: table.get(name) for name, metric in _METRICS.items()}


@cache
def _absent(level: str) -> dict[str, None]:
    """Return the metrics of a level, all None."""
    definitions = (definition for definition in metric_definitions() if definition["level"] == level)
    return {definition["name"]: None for definition in definitions if "." not in definition["name"]}
