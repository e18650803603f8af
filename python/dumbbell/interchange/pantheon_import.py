"""A Pantheon data directory as a results directory: every run measured again from its logs."""

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.backends.imported import Imported
from dumbbell.catalog.path import PathModel
from dumbbell.experiment import Experiment, Run
from dumbbell.interchange.pantheon_metadata import PantheonMetadata, read_metadata
from dumbbell.interchange.pantheon_stats import RunTimes, read_times
from dumbbell.interchange.staging import begin, finish, imported_experiment, refuse_used, staging
from dumbbell.json_text import to_json
from dumbbell.names import fitted
from dumbbell.results import ResultsDirectory, unsuccessful
from dumbbell.results.environment import now
from dumbbell.results.files import publish


@dataclass(frozen=True)
class _RawLogs:
    """A run's unmerged tunnel logs: (egress, ingress) per flow, and the clock offsets of sender and receiver."""

    data: list[tuple[str, str]]
    ack: list[tuple[str, str]]
    offsets_ms: tuple[float, float]


@dataclass(frozen=True)
class _Logs:
    data: Path
    ack: Path
    stats: Path
    raw: _RawLogs


def import_pantheon(source: Path, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports the data directory `source` into the new directory `out`, completely or not at all.

    Raises:
        UserError: not such a directory, `out` is in use, or a log is malformed (file and line).
    """
    metadata = read_metadata(source)
    experiment = _experiment(metadata, source)
    refuse_used(out)
    with staging(out) as directory:
        facts = {"git_summary": metadata.git_summary, "metadata": metadata.raw}
        results = begin(directory, experiment, source, command, facts)
        for run in experiment.all_runs():
            _import_run(results, run, _logs(source, run, metadata))
        finish(results)
    return ResultsDirectory(out, experiment)


def _experiment(metadata: PantheonMetadata, source: Path) -> Experiment:
    path = PathModel(
        name=fitted(source.resolve().name, "imported"),
        title=metadata.title,
        provenance=f"measured with Pantheon; {metadata.title}",
    )
    return replace(
        imported_experiment(path, metadata.schemes, metadata.runtime_s),
        title=f"Pantheon: {metadata.title}",
        runs=max(metadata.run_times, _last_run(source, metadata)),
        warmup_s=metadata.runtime_s / 6,
        flows=max(metadata.flows, 1),
        interval_s=metadata.interval_s,
    )


def _last_run(source: Path, metadata: PantheonMetadata) -> int:
    """The highest run number with a log: Pantheon's metadata do not count runs appended with --start-run-id."""
    numbers = [0]
    for file in source.iterdir():
        match = re.fullmatch(r"(.+)_datalink_run(\d{1,4})(_flow\d+_uid[^.]+)?\.log(\.egress)?", file.name)
        if match and match[1] in metadata.schemes:
            numbers.append(int(match[2]))
    return max(numbers)


def _logs(source: Path, run: Run, metadata: PantheonMetadata) -> _Logs:
    def name(part: str) -> Path:
        return source / f"{run.scheme}_{part}_run{run.run}.log"

    stats = name("stats")
    raw = _RawLogs(_raw_pairs(source, run, "datalink"), _raw_pairs(source, run, "acklink"), _offsets(stats, metadata))
    return _Logs(name("datalink"), name("acklink"), stats, raw)


def _raw_pairs(source: Path, run: Run, link: str) -> list[tuple[str, str]]:
    """Egress and ingress log of every flow of one direction, in flow order; none unless all are there."""
    pattern = re.compile(rf"{re.escape(run.scheme)}_{link}_run{run.run}_flow(\d+)_uid[^.]+\.log\.egress")
    found = [(int(match[1]), file) for file in source.iterdir() if (match := pattern.fullmatch(file.name))]
    pairs = [(file, file.with_name(file.name.removesuffix("egress") + "ingress")) for _, file in sorted(found)]
    return [(str(egress), str(ingress)) for egress, ingress in pairs if all(pair[1].is_file() for pair in pairs)]


def _offsets(stats: Path, metadata: PantheonMetadata) -> tuple[float, float]:
    """Clock offsets of the data sender and of the receiver, ms; zero unless both were measured, as in Pantheon."""
    times = read_times(stats) or RunTimes()
    if times.local_offset_ms is None or times.remote_offset_ms is None:
        return (0.0, 0.0)
    local, remote = times.local_offset_ms, times.remote_offset_ms
    return (remote, local) if metadata.raw.get("sender_side") == "remote" else (local, remote)


def _import_run(results: ResultsDirectory, run: Run, logs: _Logs) -> None:
    temporary = results.unfinished / "run"
    temporary.mkdir(parents=True)
    times = read_times(logs.stats)
    experiment = results.experiment
    packets = temporary / "packets.parquet"
    notes = [f"{now()} imported from {logs.data.name}, {logs.ack.name}, {logs.stats.name}"]
    if times is None:
        notes.append(f"{logs.stats.name} is missing: the start of the run failed, or it was deleted")
    statistics, reason = _measured(logs, packets, experiment, run)
    if reason is None:
        # what Pantheon's own analysis would drop: too short, or a flow without arrivals
        reason = statistics["network"]["invalid_reason"]
    if reason is None:
        statistics = {"backend": Imported.form, "status": "done", "reason": None} | statistics
    else:
        statistics = unsuccessful(Imported.form, "failed", reason)
        notes.append(f"not usable: {reason}")
    statistics |= {"imported": asdict(times or RunTimes())}
    (temporary / "log.txt").write_text("\n".join(notes) + "\n", encoding="utf-8")
    (temporary / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
    publish(temporary, results.folder(run))


def _measured(logs: _Logs, packets: Path, experiment: Experiment, run: Run) -> tuple[dict[str, Any], str | None]:
    """The statistics of a run's logs, or why there are none."""
    if not logs.data.is_file():
        if not logs.raw.data:
            return {}, f"{logs.data.name} is missing"
        found = json.loads(_core.import_raw_logs(logs.raw.data, logs.raw.ack, logs.raw.offsets_ms, str(packets)))
        return _statistics(found, packets, experiment, run)
    ack = str(logs.ack) if logs.ack.is_file() else None
    found = json.loads(_core.import_merged_log(str(logs.data), ack, str(packets)))
    if found["unusable"] and ack is not None:
        # an unusable ACK log costs the ACK metrics, not the run
        found = json.loads(_core.import_merged_log(str(logs.data), None, str(packets)))
    return _statistics(found, packets, experiment, run)


def _statistics(
    found: dict[str, Any], packets: Path, experiment: Experiment, run: Run
) -> tuple[dict[str, Any], str | None]:
    if found["unusable"]:
        return {}, str(found["unusable"])
    statistics = measure(packets, experiment, run)
    return statistics | {"init_us": found["init_us"], "events": found["records"], "sim_wall_s": None}, None


def measure(packets: Path, experiment: Experiment, run: Run, stated: Path | None = None) -> dict[str, Any]:
    """All metrics of a packet log, with the flows that the experiment planned.

    `stated` are the samples of a log that is a sender's view: losses are those that it declared.
    """
    plans = experiment.flow_plans(run.scheme, run.path)
    options: dict[str, Any] = {
        "duration_s": experiment.duration_s,
        "warmup_s": experiment.warmup_s,
        # each starts with its first packet: the logs begin before the schemes do
        "flows": [{"flow": number, "scheme": plan.scheme} for number, plan in enumerate(plans, 1)],
    }
    if stated is not None:
        options["stated"] = str(stated)
    statistics: dict[str, Any] = json.loads(_core.measure_log(str(packets), json.dumps(options)))
    return statistics
