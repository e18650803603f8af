"""Numbers of a run, computed again from its packet log and compared with its statistics."""

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
"""Metrics that need more than the packets: times of completion, or samples of the sender."""


def has_all_packets(results: ResultsDirectory, run: RunTable) -> bool:
    """Return True if the numbers of a run can be computed again: dumbbell executed it, and it has its packets.

    The import of a log from elsewhere found out its properties, such as its clocks; the run does not keep these.
    """
    folder = results.root / run["directory"]
    return results.experiment.capabilities.executes and PACKETS in kept_files(folder)


def wrong_number(results: ResultsDirectory, run: RunTable) -> str | None:
    """Return a line if the packet log of a run gives other numbers than its statistics; None if all are equal.

    They must be equal to the last digit: the sums and their order are the same. Numbers that need more than the
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
        measurement = measure_log(packets, options)
    except core.Error as error:
        return one_line(error).replace(f"{packets.parent}/", "")
    log_values = {value[:3]: value[3] for value in numbers(cast("RunTable", {**measurement, "links": []}))}
    stated_values = {value[:3]: value[3] for value in numbers(run) if value[0] != "link"}
    wrong = [
        f"`{name}` of {_entity(kind, entity)} is {value:g}, its packets say {log_values[kind, entity, name]:g}"
        for (kind, entity, name), value in stated_values.items()
        if name not in _OF_MORE and log_values.get((kind, entity, name), value) != value
    ]
    wrong += [
        f"`{name}` of {_entity(kind, entity)} is missing, its packets say {value:g}"
        for (kind, entity, name), value in log_values.items()
        if name not in _OF_MORE and (kind, entity, name) not in stated_values
    ]
    if not wrong:
        return None
    more = f" (and {len(wrong) - 1} other numbers differ)" if len(wrong) > 1 else ""
    return f"stats.json: {wrong[0]}{more}"


def _entity(kind: str, number: int) -> str:
    return f"{kind} {number}" if number else f"the {kind}"
