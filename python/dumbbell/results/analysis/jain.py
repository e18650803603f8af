"""Jain's index of a run in windows of time, by two rules of counting flows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy
from numpy.typing import NDArray

from dumbbell.core import logs
from dumbbell.results.series.run_files import Source

if TYPE_CHECKING:
    from dumbbell.contract.packet_logs import JainOptions, PlannedFlow
    from dumbbell.contract.statistics import FlowStats

RULES = {"seen_in_bucket": "flows seen", "scheduled_active": "flows scheduled"}
"""Rules as the core knows them, with their words."""
WINDOW_S = 0.1
"""Length of a window in the published studies, s."""


@dataclass(frozen=True)
class JainSeries:
    """Index of every window that has one, by the end of the window (s since the start of the run)."""

    rule: str
    window_s: float
    time_s: NDArray[Any]
    index: NDArray[Any]


def jain_series(packets: Source, flows: Sequence[FlowStats], rule: str, window_s: float = WINDOW_S) -> JainSeries:
    """Return the series of a packet log; `flows` are those of `show --json`.

    Raises:
        dumbbell.core.Error: The packet log is damaged.
    """
    plans = [_plan(flow) for flow in flows]
    # the last window ends with the run, not with its last packet
    duration_s = max((flow.get("stop_s") or 0.0 for flow in flows), default=0.0)
    options: JainOptions = {"window_s": window_s, "rule": rule, "duration_s": duration_s, "flows": plans}
    series = logs.jain_series(packets, options)
    return JainSeries(rule, series["window_s"], numpy.array(series["time_s"]), numpy.array(series["index"]))


def _plan(flow: FlowStats) -> PlannedFlow:
    """Return number and times of a flow, as far as known."""
    times = {key: flow.get(key) for key in ("start_s", "stop_s")}
    return cast("PlannedFlow", {"flow": flow["flow"]} | {key: time for key, time in times.items() if time is not None})


def is_staircase(flows: Sequence[FlowStats]) -> bool:
    """Return True if at least three flows join one by one and leave again, the last that came first."""
    times = [(flow.get("start_s"), flow.get("stop_s")) for flow in flows]
    known_times = sorted((start_s, stop_s) for start_s, stop_s in times if start_s is not None and stop_s is not None)
    if len(known_times) < max(len(flows), 3):
        return False
    return all(a[0] < b[0] and a[1] > b[1] for a, b in itertools.pairwise(known_times))
