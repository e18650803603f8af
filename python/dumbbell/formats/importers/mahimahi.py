"""Logs of mahimahi's mm-link: one run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell.base.errors import UserError, argument
from dumbbell.base.input_files import check_regular
from dumbbell.base.names import RULE, fitted, is_name
from dumbbell.base.progress import Progress
from dumbbell.catalog.path import PathModel
from dumbbell.core import logs
from dumbbell.experiment import Experiment
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.pantheon_measure import measure
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


OPTIONS = ("ack", "scheme")


def read(request: ImportRequest) -> ResultsDirectory:
    """Import the log of mm-link, with that of the other direction if `ack` names it, as one run of `scheme`.

    Raises:
        UserError: If a log cannot be used, or `out` is in use.
    """
    data, ack, out = Path(request.source), request.ack, Path(request.out)
    for file in (data, ack):
        if file is not None:
            check_regular(Path(file))
    scheme = "imported" if request.scheme is None else request.scheme
    refuse_used(out)
    if not is_name(scheme):
        raise UserError(f"{argument('scheme')} `{scheme}`: allowed are {RULE}")
    with staging(out) as directory, Progress() as progress:
        progress.doing(f"reading {data.name}")
        packets = directory / "packets.parquet"
        other = None if ack is None else str(ack)
        log = logs.import_mahimahi(str(data), other, str(packets), strict=True)
        if log["unusable"]:
            raise UserError(str(log["unusable"]))
        results = begin(directory, _experiment(data, scheme, log["last_s"]), data, list(request.command))
        run = results.experiment.all_runs()[0]
        zero_ns = log["log_zero_ns"]
        statistics = measure(packets, results.experiment, run, numbers=[0], log_zero_ns=zero_ns, tells_flows=False)
        complete = {**statistics, "init_us": log["init_us"], "events": log["records"]}
        add_run(results, run, [packets], cast("RunStats", complete), data.name)
        finish(results)
    return ResultsDirectory(out, results.experiment)


def _experiment(data: Path, scheme: str, last_s: float) -> Experiment:
    name = fitted(data.stem, "mahimahi")
    path = PathModel(name=name, title=f"mahimahi: {data.name}", provenance="measured with mahimahi's mm-link")
    return imported_experiment(path, [scheme], last_s)
