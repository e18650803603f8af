"""The numbers of a run, computed again from its packet log: whether they are what its statistics say."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from dumbbell import core
from dumbbell.base.errors import one_line
from dumbbell.core.logs import measure_log
from dumbbell.results.numbers import numbers
from dumbbell.results.series.run_files import PACKETS, kept_files

if TYPE_CHECKING:
    from dumbbell.contract.packet_logs import MeasureOptions, PlannedFlow
    from dumbbell.contract.run import RunTable
    from dumbbell.results.directory import ResultsDirectory

_OF_MORE = frozenset(
    {
        "competing_goodput_mbps",
        "competing_loss_rate",
        "competing_owd_p95_ms",
        "competing_share",
        "fct_incomplete",
        "flow_completion_time_l4",
        "jain_active_p05",
        "jain_active_p50",
        "jain_index",
        "mean_agg_throughput_l4",
        "mean_sending_rate_l4",
        "mean_throughput_l4",
    }
)
"""Metrics that need more than the packets: when a transfer was complete, or samples of the sender."""


def has_all_packets(results: ResultsDirectory, run: RunTable) -> bool:
    """Return whether the numbers of a run can be computed again: it was executed by dumbbell and has its packets.

    What is to be known of a log from elsewhere, such as its clocks, its import found out; the run does not keep that.
    """
    folder = results.root / run["directory"]
    return results.experiment.capabilities.executes and PACKETS in kept_files(folder)


def wrong_number(results: ResultsDirectory, run: RunTable) -> str | None:
    """Return a line if the packet log of a run tells other numbers than its statistics; None if all are the same.

    They have to be the same to the last digit: the same sums in the same order. Numbers that need more than the
    packets, such as windows, retransmissions and times of completion, are not compared.
    """
    experiment = results.experiment
    flows: list[PlannedFlow] = [
        {
            "flow": flow["flow"],
            "scheme": flow.get("scheme") or run["scheme"],
            "start_s": flow.get("start_s"),
            "stop_s": flow.get("stop_s"),
        }
        for flow in run["flows"]
    ]
    options: MeasureOptions = {"duration_s": experiment.duration_s, "warmup_s": experiment.warmup_s, "flows": flows}
    packets = results.root / run["directory"] / f"{PACKETS}.parquet"
    try:
        measured = measure_log(packets, options)
    except core.Error as error:
        return one_line(error).replace(f"{packets.parent}/", "")
    found = {value[:3]: value[3] for value in numbers(cast("RunTable", {**measured, "links": []}))}
    said = {value[:3]: value[3] for value in numbers(run) if value[0] != "link"}
    wrong = [
        f"`{name}` of {_entity(kind, entity)} is {value:g}, its packets say {found[kind, entity, name]:g}"
        for (kind, entity, name), value in said.items()
        if name not in _OF_MORE and found.get((kind, entity, name), value) != value
    ]
    wrong += [
        f"`{name}` of {_entity(kind, entity)} is missing, its packets say {value:g}"
        for (kind, entity, name), value in found.items()
        if name not in _OF_MORE and (kind, entity, name) not in said
    ]
    if not wrong:
        return None
    more = f" (and {len(wrong) - 1} other numbers differ)" if len(wrong) > 1 else ""
    return f"stats.json: {wrong[0]}{more}"


def _entity(kind: str, number: int) -> str:
    return f"{kind} {number}" if number else f"the {kind}"
