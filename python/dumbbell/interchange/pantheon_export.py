"""A results directory as Pantheon data directories, one per path, for Pantheon's own tools."""

import datetime
import json
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.catalog.path import PathModel
from dumbbell.errors import UserError
from dumbbell.experiment import Experiment, Run
from dumbbell.interchange.pantheon_stats import RunTimes, stats_text
from dumbbell.interchange.staging import refuse_used, staging
from dumbbell.names import foreign_name, unlike
from dumbbell.results import ResultsDirectory, open_results

PAUSE_S = 40  # between simulated runs on the invented time axis: about what Pantheon needed


def export_pantheon(directory: Path, destination: Path) -> list[tuple[Run, str]]:
    """Writes every usable run of `directory`; returns the others with the reason.

    Raises:
        UserError: no results, no packet logs, or `destination` is in use.
    """
    results = open_results(directory)
    refuse_used(destination)
    left_out: list[tuple[Run, str]] = []
    with staging(destination) as temporary:
        paths = results.experiment.paths
        for path in paths.values():
            folder = temporary / path.name if len(paths) > 1 else temporary
            folder.mkdir(exist_ok=True)
            left_out += _export_path(results, path, folder)
        if len(left_out) == len(results.experiment.all_runs()):
            raise UserError(f"{directory}: nothing to export: {left_out[0][1]}")
    return left_out


def _export_path(results: ResultsDirectory, path: PathModel, folder: Path) -> list[tuple[Run, str]]:
    left_out = []
    performance: dict[str, dict[str, Any]] = {}
    keys = _keys(results.experiment)
    clock = _origin(results)
    for run in results.experiment.all_runs():
        if run.path != path.name:
            continue
        performance.setdefault(keys[run.scheme], {})
        statistics = results.run(run)
        packets = results.folder(run) / "packets.parquet"
        reason = statistics["reason"] if statistics["status"] != "done" else None
        if reason is None and not packets.is_file():
            reason = "its packets were not logged"
        if reason is not None:
            left_out.append((run, reason))
            continue
        times, init_us = _times(statistics, clock, results.experiment.duration_s)
        clock += datetime.timedelta(seconds=results.experiment.duration_s + PAUSE_S)
        stem = f"{keys[run.scheme]}_{{}}_run{run.run}.log"
        logs = [str(folder / stem.format(part)) for part in ("datalink", "acklink")]
        _core.export_pantheon(str(packets), logs[0], logs[1], init_us)
        generated = _stamp(datetime.datetime.now(datetime.UTC))
        text = stats_text(times, statistics, generated)
        (folder / stem.format("stats")).write_text(text, encoding="utf-8")
        performance[keys[run.scheme]][str(run.run)] = _performance(statistics)
    metadata = json.dumps(_metadata(results, path), indent=4, sort_keys=True)
    (folder / "pantheon_metadata.json").write_text(metadata, encoding="utf-8")
    (folder / "pantheon_perf.json").write_text(json.dumps(performance), encoding="utf-8")
    return left_out


def _keys(experiment: Experiment) -> dict[str, str]:
    """Schemes and mixes as Pantheon can call them, each its own."""
    keys: dict[str, str] = {}
    for label in (*experiment.labels, *experiment.mixes):
        keys[label] = unlike(foreign_name(label), keys.values())
    return keys


def _performance(statistics: dict[str, Any]) -> dict[str, dict[str, Any]]:
    entries = {str(number): flow for number, flow in enumerate(statistics["flows"], 1)}
    entries["all"] = statistics["network"]
    keys = {"tput": "throughput_mbps", "delay": "delay_p95_ms", "loss": "loss_rate"}
    return {name: {key: metrics[metric] for key, metric in keys.items()} for name, metrics in entries.items()}


def _origin(results: ResultsDirectory) -> datetime.datetime:
    started = results.environment().get("started_at")
    if isinstance(started, str):
        return datetime.datetime.fromisoformat(started)
    return datetime.datetime.fromtimestamp(0, datetime.UTC)


def _times(statistics: dict[str, Any], clock: datetime.datetime, duration_s: float) -> tuple[RunTimes, int]:
    """When the run was made; a simulated one is given a place on a time axis that starts with the experiment."""
    imported = statistics.get("imported") or {}
    if imported.get("started"):
        init_us = statistics.get("init_us")
        return RunTimes(**imported), init_us if init_us is not None else int(clock.timestamp() * 1e6)
    ended = clock + datetime.timedelta(seconds=duration_s)
    return RunTimes(_stamp(clock), _stamp(ended)), int(clock.timestamp() * 1e6)


def _stamp(time: datetime.datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _metadata(results: ResultsDirectory, path: PathModel) -> dict[str, Any]:
    imported = results.environment().get("imported") or {}
    if "metadata" in imported:
        return dict(imported["metadata"])
    experiment = results.experiment
    git = results.environment().get("git") or {}
    return {
        "cc_schemes": sorted(_keys(experiment).values()),
        "flows": max(len(experiment.flow_plans(label, path.name)) for label in (*experiment.labels, *experiment.mixes)),
        "git_summary": f"branch: {git.get('branch') or 'none'} @ {git.get('commit') or 'unknown'}\n",
        "interval": _whole(experiment.interval_s),
        "mode": "local",
        "random_order": experiment.random_order,
        "run_times": experiment.runs,
        "runtime": _whole(experiment.duration_s),
        "start_run_id": 1,
        "uplink_trace": f"{path.name}.data",
        "downlink_trace": f"{path.name}.ack",
    }


def _whole(seconds: float) -> int | float:
    return int(seconds) if seconds.is_integer() else seconds
