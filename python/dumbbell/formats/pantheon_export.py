"""A results directory as Pantheon data directories, one per path, for Pantheon's own tools."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, printable
from dumbbell.base.names import RULE, foreign_name, is_name, unlike
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.base.version import __version__
from dumbbell.catalog.path import PathModel
from dumbbell.experiment import Experiment, Run
from dumbbell.formats.pantheon_stats import RunTimes, logged_flows, recorded_times, stamp, stats_text
from dumbbell.formats.staging import refuse_used, staging
from dumbbell.results import ResultsDirectory, open_results
from dumbbell.results.analysis.counterparts import WRITTEN_BY

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

_FIRST_YEAR, _LAST_YEAR = 1971, 2999
_LAST_US = 32e15  # in 2984


def export_pantheon(directory: Path, destination: Path) -> list[tuple[Run, str]]:
    """Write every usable run of `directory`; return the other runs with the reasons.

    Raises:
        UserError: If there are no results or packet logs, or if `destination` is in use.
    """
    results = open_results(directory)
    refuse_used(destination)
    left_out: list[tuple[Run, str]] = []
    paths, all_runs = results.experiment.paths, results.planned()
    with staging(destination) as temporary, Progress() as progress:
        runs = {name: [run for run in all_runs if run.path == name] for name in paths}
        stages = {name: _announced(progress, name, runs[name]) for name in paths}
        for name, path in paths.items():
            folder = temporary / name if len(paths) > 1 else temporary
            folder.mkdir(exist_ok=True)
            left_out += _export_path(results, path, stages[name].iterate(runs[name]), folder)
        if len(left_out) == len(all_runs):
            raise UserError(f"{directory}: nothing to export: {left_out[0][1] if left_out else 'it has no runs'}")
    return left_out


def _announced(progress: Progress, path: str, runs: list[Run]) -> Stage:
    return progress.expect(f"exports of runs on {path}", [Piece(run.label, 1.0) for run in runs])


def _export_path(
    results: ResultsDirectory, path: PathModel, runs: Iterable[Run], folder: Path
) -> list[tuple[Run, str]]:
    left_out, keys = [], _keys(results.experiment)
    performance: dict[str, dict[str, object]] = {}
    origin = _origin(results)
    for run in runs:
        key = keys[run.scheme]
        performance.setdefault(key, {})
        statistics = results.readable(run)
        packets = results.folder(run) / "packets.parquet"
        reason = statistics["reason"] if statistics["status"] != "done" else None
        if reason is None and not packets.is_file():
            reason = "its packets were not logged"
        if reason is not None:
            left_out.append((run, reason))
            continue
        times, init_us = _times(results.folder(run) / "stats.json", statistics, origin, results.experiment.duration_s)
        stem = f"{key}_{{}}_run{run.run}.log"
        logs = [str(folder / stem.format(part)) for part in ("datalink", "acklink")]
        core.export_pantheon(packets, logs[0], logs[1], init_us)
        time_text = stamp(SYSTEM_CLOCK.utc())
        text = stats_text(times, statistics, time_text)
        (folder / stem.format("stats")).write_text(text, encoding="utf-8")
        performance[key][str(run.run)] = _performance(statistics)
    metadata = json.dumps(_metadata(results, path), indent=4, sort_keys=True)
    (folder / "pantheon_metadata.json").write_text(metadata, encoding="utf-8")
    (folder / "pantheon_perf.json").write_text(json.dumps(performance), encoding="utf-8")
    return left_out


def _keys(experiment: Experiment) -> dict[str, str]:
    """Return the unique key of each scheme and mix in names of files: `cubic*2+bbr` becomes `cubicx2-bbr`.

    Raises:
        UserError: If a label gives no valid name.
    """
    keys: dict[str, str] = {}
    for label in (*experiment.labels, *experiment.mixes):
        key = re.sub(r"[^A-Za-z0-9._-]", "-", foreign_name(label))
        if not is_name(key):
            raise UserError(f"`{label}`: Pantheon's files cannot be named after it: allowed are {RULE}")
        keys[label] = unlike(key, keys.values())
    return keys


def _performance(statistics: RunTable) -> dict[str, dict[str, object]]:
    entries: dict[str, Mapping[str, object]] = {
        str(flow["flow"]): flow for flow in logged_flows(statistics) if flow["flow"]
    }
    entries["all"] = statistics["network"]
    keys = {"tput": "throughput_mbps", "delay": "delay_p95_ms", "loss": "loss_rate"}
    return {name: {key: metrics.get(metric) for key, metric in keys.items()} for name, metrics in entries.items()}


def _origin(results: ResultsDirectory) -> datetime.datetime:
    """Return the start time of the experiment."""
    environment = results.environment()
    start_text = (environment.get("importing_machine") or environment).get("started_at")
    if not isinstance(start_text, str):
        return datetime.datetime.fromtimestamp(0, datetime.UTC)
    return _moment(start_text, f"{results.directory / 'environment.json'}: `started_at`")


def _moment(text: str, place: str) -> datetime.datetime:
    """Return the time in a text; without a time zone it is in UTC.

    Raises:
        UserError: If the text is no time, or outside of the years of a log.
    """
    with contextlib.suppress(ValueError):
        moment = datetime.datetime.fromisoformat(text)
        if _FIRST_YEAR <= moment.year <= _LAST_YEAR:
            return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment
    raise UserError(f"{place} = {printable(text)}: allowed is a time as in ISO 8601, of {_FIRST_YEAR} to {_LAST_YEAR}")


def _times(file: Entry, statistics: RunTable, origin: datetime.datetime, duration_s: float) -> tuple[RunTimes, int]:
    """Return the times of a run (the experiment's start if unknown), and the zero of its log, us since 1970."""
    times, init_us = recorded_times(statistics, duration_s), statistics.get("init_us")
    if init_us is not None:
        if not 0 <= init_us <= _LAST_US:
            raise UserError(f"{file}: `init_us` = {init_us:g}: allowed are 0 to {_LAST_US:g}: microseconds since 1970")
        start = datetime.datetime.fromtimestamp(init_us / 1e6, datetime.UTC)
    else:
        key = "imported.started" if "imported" in statistics else "started_at"
        start = _moment(times.started, f"{file}: `{key}`") if times.started else origin
        init_us = start.timestamp() * 1e6
    if not times.started:
        end = start + datetime.timedelta(seconds=duration_s)
        times = replace(times, started=stamp(start), ended=stamp(end))
    return times, int(init_us)


def _metadata(results: ResultsDirectory, path: PathModel) -> dict[str, object]:
    import_facts = results.environment().get("imported") or {}
    if "metadata" in import_facts:
        # results measured without a tunnel are written as logs of a tunnel, too
        return dict(import_facts["metadata"]) | {"flows": max(results.experiment.flows, 1)}
    experiment = results.experiment
    keys, alone = _keys(experiment), experiment.labels or experiment.mixes
    git = results.environment().get("git")
    branch, commit = (git.get("branch"), git["commit"]) if git else (None, None)
    return {
        "cc_schemes": sorted(keys.values()),
        "flows": max(len(experiment.flow_plans(label, path.name)) for label in alone),
        "git_summary": f"branch: {branch or 'none'} @ {commit or 'unknown'}\n",
        "interval": _whole(experiment.interval_s),
        "mode": "local",
        "random_order": experiment.random_order,
        "run_times": experiment.runs,
        "runtime": _whole(experiment.duration_s),
        "start_run_id": 1,
        "uplink_trace": f"{path.name}.data",
        "downlink_trace": f"{path.name}.ack",
        # Pantheon ignores unknown keys such as these
        WRITTEN_BY: f"dumbbell {__version__}",
        **({"mixes": {keys[mix]: mix for mix in experiment.mixes}} if experiment.mixes else {}),
    }


def _whole(seconds: float) -> int | float:
    return int(seconds) if seconds.is_integer() else seconds
