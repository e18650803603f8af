"""A log of mahimahi's mm-link as a results directory with one run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell.base.errors import UserError, argument
from dumbbell.base.names import RULE, fitted, is_name
from dumbbell.base.progress import Progress
from dumbbell.catalog.path import PathModel
from dumbbell.core import logs as core_logs
from dumbbell.experiment import Experiment
from dumbbell.formats.pantheon_import import measure
from dumbbell.formats.staging import (
    add_run,
    begin,
    finish,
    imported_experiment,
    refuse_used,
    staging,
)
from dumbbell.results import ResultsDirectory

if TYPE_CHECKING:
    from dumbbell.contract.statistics import RunStats


@dataclass(frozen=True)
class LinkLogs:
    """The logs of both directions and what made the traffic."""

    data: Path
    ack: Path | None
    scheme: str


def import_mahimahi(logs: LinkLogs, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports mm-link logs into the new directory `out`, completely or not at all.

    Raises:
        UserError: a log cannot be used, or `out` is in use.
    """
    refuse_used(out)
    if not is_name(logs.scheme):
        raise UserError(f"{argument('scheme')} `{logs.scheme}`: allowed are {RULE}")
    with staging(out) as directory, Progress() as progress:
        progress.doing(f"reading {logs.data.name}")
        packets = directory / "packets.parquet"
        ack = None if logs.ack is None else str(logs.ack)
        found = core_logs.import_mahimahi(str(logs.data), ack, str(packets), strict=True)
        if found["unusable"]:
            raise UserError(str(found["unusable"]))
        results = begin(directory, _experiment(logs, found["last_s"]), logs.data, command)
        run = results.experiment.all_runs()[0]
        zero_ns = found["log_zero_ns"]
        statistics = measure(packets, results.experiment, run, numbers=[0], log_zero_ns=zero_ns, tells_flows=False)
        made = {**statistics, "init_us": found["init_us"], "events": found["records"]}
        add_run(results, run, [packets], cast("RunStats", made), logs.data.name)
        finish(results)
    return ResultsDirectory(out, results.experiment)


def _experiment(logs: LinkLogs, last_s: float) -> Experiment:
    name = fitted(logs.data.stem, "mahimahi")
    path = PathModel(name=name, title=f"mahimahi: {logs.data.name}", provenance="measured with mahimahi's mm-link")
    return imported_experiment(path, [logs.scheme], last_s)
