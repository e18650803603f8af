"""Metrics of a packet log that was made from logs of Pantheon or mahimahi."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.core import logs
from dumbbell.experiment import Experiment, Run

if TYPE_CHECKING:
    from dumbbell.contract.packet_logs import MeasureOptions
    from dumbbell.contract.statistics import RunStats


def measure(
    packets: Path,
    experiment: Experiment,
    run: Run,
    *,
    numbers: list[int],
    log_zero_ns: int | None,
    tells_flows: bool = True,
) -> RunStats:
    """Return all metrics of a packet log, with the flows of the given `numbers`.

    `log_zero_ns` is the log's own zero. No log of Pantheon or mahimahi contains marks, and some do not
    distinguish flows.
    """
    plans = [plan.scheme for plan in experiment.flow_plans(run.scheme, run.path)]
    options: MeasureOptions = {
        "duration_s": experiment.duration_s,
        "warmup_s": experiment.warmup_s,
        "tells": {"marks": False, "flows": tells_flows},
        # each flow starts with its first packet: the logs begin before the schemes
        "flows": [{"flow": number, "scheme": plans[min(max(number, 1), len(plans)) - 1]} for number in numbers],
        "log_zero_ns": log_zero_ns,
    }
    return logs.measure_log(str(packets), options)
