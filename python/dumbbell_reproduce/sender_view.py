"""Simulated runs as their senders see them, for comparison with a capture or a qlog of one end."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.formats import importers
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.qlog_export import DRAFTS, export_qlog
from dumbbell.results import ACCEPTED, ResultsDirectory
from dumbbell_reproduce.simulated import SimulatedRuns

if TYPE_CHECKING:
    from dumbbell.contract.statistics import FlowStats, RunStats

_EXPORTED = "qlogs"


def seen_by_senders(results: ResultsDirectory, place: Path) -> dict[str, SimulatedRuns]:
    """Return the good runs of each scheme as their senders see them: exported as qlogs, then imported into `place`.

    A qlog has one flow. Metrics of several flows together stay those of both ends, and have no round trips.
    """
    shutil.rmtree(place, ignore_errors=True)  # remains of an earlier call with fewer runs
    qlogs = place / _EXPORTED
    files, left_out, _ = export_qlog(results.directory, qlogs, None, None, DRAFTS[0])
    content = importers.read(ImportRequest("qlog", qlogs, place / "seen"))
    runs = dict(zip(sorted(files), content.planned(), strict=True))
    shutil.rmtree(qlogs)
    left = {run for run, _ in left_out}
    simulated_runs: dict[str, SimulatedRuns] = {}
    order = iter(files)
    for run in results.planned():
        if run in left:
            continue
        statistics = results.readable(run)
        imported_runs = [runs[next(order)] for _ in statistics["flows"]]
        sides = [content.readable(imported_run) for imported_run in imported_runs]
        if not all(side["status"] in ACCEPTED for side in sides):
            continue
        flows: list[FlowStats] = [{**side["flows"][0], "flow": number} for number, side in enumerate(sides, 1)]
        network = sides[0]["network"] if len(sides) == 1 else statistics["network"]
        folders = (content.folder(imported_runs[0]),) if len(imported_runs) == 1 else ()
        earlier = simulated_runs.get(run.scheme, SimulatedRuns((), ()))
        seen_run: RunStats = {"flows": flows, "links": [], "network": network}
        simulated_runs[run.scheme] = SimulatedRuns((*earlier.statistics, seen_run), (*earlier.folders, *folders))
    return simulated_runs
