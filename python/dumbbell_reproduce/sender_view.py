"""Simulated runs as their senders saw them: what a capture or a qlog of one end is compared with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.formats import importers
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.qlog_export import DRAFTS, export_qlog
from dumbbell.results import ACCEPTED, ResultsDirectory
from dumbbell_reproduce.simulated import Simulated

if TYPE_CHECKING:
    from dumbbell.contract.statistics import FlowStats, RunStats

_EXPORTED = "qlogs"


def seen_by_senders(results: ResultsDirectory, place: Path) -> dict[str, Simulated]:
    """Return the good runs of each scheme as their senders saw them: exported as qlogs, and imported into `place`.

    A qlog has one flow: numbers of several flows together stay those of both ends, and have no round trips.
    """
    shutil.rmtree(place, ignore_errors=True)  # of a time before, with fewer runs
    qlogs = place / _EXPORTED
    files, left_out, _ = export_qlog(results.directory, qlogs, None, None, DRAFTS[0])
    content = importers.read(ImportRequest("qlog", qlogs, place / "seen"))
    runs = dict(zip(sorted(files), content.planned(), strict=True))
    shutil.rmtree(qlogs)
    left = {run for run, _ in left_out}
    found: dict[str, Simulated] = {}
    order = iter(files)
    for run in results.planned():
        if run in left:
            continue
        whole = results.readable(run)
        seen = [runs[next(order)] for _ in whole["flows"]]
        sides = [content.readable(each) for each in seen]
        if not all(side["status"] in ACCEPTED for side in sides):
            continue
        flows: list[FlowStats] = [{**side["flows"][0], "flow": number} for number, side in enumerate(sides, 1)]
        network = sides[0]["network"] if len(sides) == 1 else whole["network"]
        folders = (content.folder(seen[0]),) if len(seen) == 1 else ()
        earlier = found.get(run.scheme, Simulated((), ()))
        seen_run: RunStats = {"flows": flows, "links": [], "network": network}
        found[run.scheme] = Simulated((*earlier.statistics, seen_run), (*earlier.folders, *folders))
    return found
