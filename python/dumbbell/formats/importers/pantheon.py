"""Data directories of Pantheon: every run measured again from its logs."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell.base.backend import IMPORTED
from dumbbell.base.conventions import PANTHEON
from dumbbell.base.errors import UserError
from dumbbell.base.names import fitted
from dumbbell.base.progress import Piece, Progress
from dumbbell.catalog.experiment_file import parse_mix
from dumbbell.catalog.experiment_settings import MOST_FLOWS
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.toml_tables import MOST_TITLE
from dumbbell.core import logs
from dumbbell.experiment import Experiment, Run
from dumbbell.experiment.resolve import MOST_RUNS
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.pantheon_files import PantheonFiles, RunFiles
from dumbbell.formats.pantheon_measure import measure
from dumbbell.formats.pantheon_metadata import PantheonMetadata, data_directories, read_metadata
from dumbbell.formats.pantheon_perf import PERFORMANCE, Flows, Runs, read_performance, statistics_of
from dumbbell.formats.pantheon_stats import RunTimes, read_times
from dumbbell.formats.staging import (
    begin,
    finish,
    imported_experiment,
    imported_scheme,
    keep_run,
    refuse_used,
    run_folder,
    staging,
)
from dumbbell.results import ResultsDirectory, unsuccessful

if TYPE_CHECKING:
    from dumbbell.contract.packet_logs import ImportedLog
    from dumbbell.contract.run import ImportTimes, RunStatistics
    from dumbbell.contract.statistics import FlowStats, RunStats


OPTIONS = ("strict",)


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a data directory, and measure every run again.

    Unusual input that Pantheon's analysis accepts is accepted with a note. A run with unusable logs is listed
    as failed, with file and line. With `strict`, any input that Pantheon would not write is an error.

    Raises:
        UserError: If the source is no such directory, `out` is in use, or a file is malformed and `strict` is set.
    """
    source, out, strict = Path(request.source), Path(request.out), request.strict
    if not source.is_dir():
        raise UserError(f"{source}: no such directory")
    metadata = read_metadata(source, strict)
    files = PantheonFiles(source, metadata)
    numbers, left_out = read_performance(source, strict)
    with_data = dict.fromkeys([*files.schemes, *(scheme for scheme, runs_ in numbers.items() if runs_)])
    extra_schemes = [] if strict else [scheme for scheme in with_data if scheme not in metadata.schemes]
    schemes = len(metadata.schemes) + len(extra_schemes)
    _require_few(metadata.file, schemes, metadata.run_times)  # before the runs are listed
    runs = {
        **{
            scheme: files.runs(scheme, (*metadata.planned_runs, *numbers.get(scheme, ())))
            for scheme in metadata.schemes
        },
        **{scheme: files.runs(scheme, numbers.get(scheme, ())) for scheme in extra_schemes},
    }
    experiment = _experiment(metadata, source, runs)
    _require_few(metadata.file, schemes, experiment.runs)
    refuse_used(out)
    with staging(out) as directory:
        facts = {"git_summary": metadata.git_summary, "metadata": metadata.raw}
        facts |= {"notes": [_inside(source, remark) for remark in (*metadata.remarks, *left_out)]}
        results = begin(directory, experiment, source, list(request.command), facts)
        importer = _Import(source, results, metadata, numbers, strict)
        path = next(iter(experiment.paths))
        planned_runs = [(scheme, number) for scheme, numbers in runs.items() for number in numbers]
        experiment_runs = [
            Run(path, metadata.mixes.get(scheme, scheme), number, experiment.seed) for scheme, number in planned_runs
        ]
        with Progress() as progress:
            stage = progress.expect("imports of runs", [Piece(run.label, 1.0) for run in experiment_runs])
            for run, (scheme, number) in stage.iterate(zip(experiment_runs, planned_runs, strict=True)):
                about = [f"{metadata.file.name}: `{scheme}` is not in `cc_schemes`"] if scheme in extra_schemes else []
                importer.add(run, files.of(scheme, number), about)
            finish(results)
    return ResultsDirectory(out, experiment)


def places(source: Path) -> list[Path]:
    """Return the data directories at or below a directory, at most four levels down, sorted by name."""
    return data_directories(source)


def _require_few(file: Path, schemes: int, runs: int) -> None:
    """Raise an error if there are more runs than an experiment may have.

    Raises:
        UserError: If there are too many runs.
    """
    if schemes * runs > MOST_RUNS:
        product = f"{runs} of {schemes} schemes are {schemes * runs} runs"
        raise UserError(f"{file}: `run_times`: {product}: allowed are at most {MOST_RUNS}")


def _experiment(metadata: PantheonMetadata, source: Path, runs: dict[str, list[int]]) -> Experiment:
    path = PathModel(
        name=fitted(source.resolve().name, "imported"),
        title=metadata.title,
        provenance=f"measured with Pantheon; {metadata.title}",
    )
    mixes = tuple(dict.fromkeys(metadata.mixes[scheme] for scheme in runs if scheme in metadata.mixes))
    alone = [scheme for scheme in runs if scheme not in metadata.mixes]
    names = [*alone, *(name for mix in mixes for name, _ in parse_mix(mix))]
    return replace(
        imported_experiment(path, alone, metadata.runtime_s),
        mixes=mixes,
        schemes={name: imported_scheme(name) for name in names},
        title=f"Pantheon: {metadata.title}"[:MOST_TITLE],
        runs=max(len(numbers) for numbers in runs.values()),
        warmup_s=metadata.runtime_s / 6,
        flows=max(metadata.flows, 1),
        interval_s=metadata.interval_s,
        convention=PANTHEON.name,
    )


def _inside(source: Path, message: str) -> str:
    """Return a message with names of files relative to the data directory."""
    return message.replace(f"{source}/", "")


_OF_ABSENT = ("flow", "scheme", "acklink")


class _Import:
    """Import of the runs of one data directory into a results directory."""

    def __init__(
        self, source: Path, results: ResultsDirectory, metadata: PantheonMetadata, numbers: Runs, strict: bool
    ) -> None:
        self._source = source
        self._results = results
        self._metadata = metadata
        self._numbers = numbers
        self._strict = strict

    def add(self, run: Run, files: RunFiles, notes: list[str]) -> None:
        """Import a run; `notes` contains the known unusual facts about it."""
        temporary = run_folder(self._results)
        times, odd = read_times(files.stats, self._strict)
        notes = [*notes, *odd]
        if times is None:
            notes.append(f"{files.stats.name} is missing: the start of the run failed, or it was deleted")
        pantheon_numbers = self._published_numbers(run, files)
        log_: ImportedLog = (
            {"unusable": None}
            if pantheon_numbers
            else self._read(files, times or RunTimes(), temporary / "packets.parquet")
        )
        reason = log_["unusable"]
        run_statistics: RunStats | None = None
        if pantheon_numbers:
            run_statistics = statistics_of(pantheon_numbers, self._schemes(run))
            notes.append(f"its logs are not there: the numbers are those that Pantheon wrote into {PERFORMANCE}")
        elif reason is None:
            notes += log_["oddities"]
            run_statistics, reason, more = self._measure(temporary / "packets.parquet", run, log_)
            notes += more
        notes = [_inside(self._source, note) for note in notes]
        if reason is None and run_statistics is not None:
            complete = {"backend": IMPORTED.form, "status": "done", "reason": None, **run_statistics}
            statistics = cast("RunStatistics", complete)
        else:
            reason = _inside(self._source, str(reason))
            statistics = unsuccessful(IMPORTED.form, "failed", reason)
        import_times = cast("ImportTimes", asdict(times or RunTimes()))
        statistics = {**statistics, "imported": import_times, "notes": notes}
        log = [f"imported from {files.data.name}, {files.ack.name}, {files.stats.name}", *notes]
        log += [] if reason is None else [f"not usable: {reason}"]
        keep_run(self._results, run, temporary, statistics, log)

    def _published_numbers(self, run: Run, files: RunFiles) -> Flows | None:
        """Return the numbers that Pantheon computed for a run, by flow, if its logs are missing."""
        if files.data.is_file() or files.raw.data:
            return None
        return self._numbers.get(files.scheme, {}).get(run.run)

    def _schemes(self, run: Run) -> list[str]:
        return [plan.scheme for plan in self._results.experiment.flow_plans(run.scheme, run.path)]

    def _read(self, files: RunFiles, times: RunTimes, packets: Path) -> ImportedLog:
        """Return the content of a run's logs. If they cannot be used, `unusable` has the reasons, with all bad logs."""
        data, ack = str(files.data), str(files.ack) if files.ack.is_file() else None
        if not files.data.is_file():
            if not files.raw.data:
                return {"unusable": f"{files.data.name} is missing{files.instead}"}
            offsets = _offsets(times, self._metadata)
            log = logs.import_raw_logs(files.raw.data, files.raw.ack, offsets, str(packets), self._strict)
            if log["unusable"] and files.raw.ack:
                alone = logs.import_raw_logs(files.raw.data, [], offsets, str(packets), self._strict)
                log = _without_ack(log, alone)
            return log
        read = logs.import_merged_log if files.is_tunnelled else logs.import_mahimahi
        log = read(data, ack, str(packets), self._strict)
        if log["unusable"] and ack is not None:
            # without a usable ACK log only the ACK metrics are missing
            alone = read(data, None, str(packets), self._strict)
            if alone["unusable"]:
                back = read(ack, None, str(packets.with_name("ack.parquet")), self._strict)
                packets.with_name("ack.parquet").unlink(missing_ok=True)
                reasons = [alone["unusable"], back["unusable"]]
                return {"unusable": "; ".join(reason for reason in reasons if reason)}
            log = _without_ack(log, alone)
        return log

    def _measure(self, packets: Path, run: Run, log: ImportedLog) -> tuple[RunStats | None, str | None, list[str]]:
        """Return the statistics of a run, the reason if it does not count, and notes about its flows."""
        experiment, logged_flows = self._results.experiment, log["flows"]
        planned_numbers = [number for number, _ in enumerate(experiment.flow_plans(run.scheme, run.path), 1)]
        notes = []
        if len(logged_flows) > MOST_FLOWS:
            return None, f"{len(logged_flows)} flows: at most {MOST_FLOWS} are allowed", []
        if logged_flows == [0] and self._metadata.flows > 1:
            notes.append(f"the log does not tell its flows apart; planned were {self._metadata.flows}")
        numbers = logged_flows if logged_flows == [0] else sorted({*planned_numbers, *logged_flows})
        absent = [number for number in numbers if number not in logged_flows]
        notes += [f"flow {number} never started: no packet of it is in the log" for number in absent]
        tells_flows = logged_flows != [0] or self._metadata.flows <= 1
        zero_ns = log["log_zero_ns"]
        run_statistics = measure(
            packets, experiment, run, numbers=numbers, log_zero_ns=zero_ns, tells_flows=tells_flows
        )
        log_facts = {"init_us": log["init_us"], "events": log["records"], "sim_wall_s": None}
        complete = {
            **run_statistics,
            "flows": [_with_absent(flow, absent) for flow in run_statistics["flows"]],
            **log_facts,
        }
        # Pantheon's analysis drops runs that are too short, or have a flow without arrivals
        return cast("RunStats", complete), run_statistics["network"].get("invalid_reason"), notes


def _without_ack(both_logs: ImportedLog, alone: ImportedLog) -> ImportedLog:
    """Return the content of the data log alone, with the reason for leaving out the ACK log."""
    if alone["unusable"]:
        return alone
    return {**alone, "oddities": [f"{both_logs['unusable']}: the ACK direction is left out", *alone["oddities"]]}


def _with_absent(flow: FlowStats, absent: list[int]) -> FlowStats:
    """Return the metrics of a flow; all null if the flow was not recorded."""
    if flow["flow"] not in absent:
        return flow
    return cast("FlowStats", {key: value if key in _OF_ABSENT else None for key, value in flow.items()})


def _offsets(times: RunTimes, metadata: PantheonMetadata) -> tuple[float, float]:
    """Return the clock offsets of data sender and receiver, ms; zero unless both were measured, as in Pantheon."""
    if times.local_offset_ms is None or times.remote_offset_ms is None:
        return (0.0, 0.0)
    local, remote = times.local_offset_ms, times.remote_offset_ms
    return (remote, local) if metadata.raw.get("sender_side") == "remote" else (local, remote)
