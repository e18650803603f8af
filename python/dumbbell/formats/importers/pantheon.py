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
    """Import a data directory; every run is measured again.

    What Pantheon's own analysis takes is taken, and said where it is unusual; a run whose logs cannot be used is listed
    as failed with file and line. `strict`: whatever Pantheon would not write is an error, and nothing is imported.

    Raises:
        UserError: If it is no such directory, `out` is in use, or, if `strict`, a file is malformed (file and line).
    """
    source, out, strict = Path(request.source), Path(request.out), request.strict
    if not source.is_dir():
        raise UserError(f"{source}: no such directory")
    metadata = read_metadata(source, strict)
    files = PantheonFiles(source, metadata)
    numbers, left_out = read_performance(source, strict)
    with_data = dict.fromkeys([*files.schemes, *(scheme for scheme, made in numbers.items() if made)])
    others = [] if strict else [scheme for scheme in with_data if scheme not in metadata.schemes]
    schemes = len(metadata.schemes) + len(others)
    _require_few(metadata.file, schemes, metadata.run_times)  # before they are listed
    runs = {
        **{
            scheme: files.runs(scheme, (*metadata.planned_runs, *numbers.get(scheme, ())))
            for scheme in metadata.schemes
        },
        **{scheme: files.runs(scheme, numbers.get(scheme, ())) for scheme in others},
    }
    experiment = _experiment(metadata, source, runs)
    _require_few(metadata.file, schemes, experiment.runs)
    refuse_used(out)
    with staging(out) as directory:
        facts = {"git_summary": metadata.git_summary, "metadata": metadata.raw}
        facts |= {"notes": [_inside(source, remark) for remark in (*metadata.remarks, *left_out)]}
        results = begin(directory, experiment, source, list(request.command), facts)
        one = _Import(source, results, metadata, numbers, strict)
        path = next(iter(experiment.paths))
        planned = [(scheme, number) for scheme, numbers in runs.items() for number in numbers]
        made = [Run(path, metadata.mixes.get(scheme, scheme), number, experiment.seed) for scheme, number in planned]
        with Progress() as progress:
            stage = progress.expect("imports of runs", [Piece(run.label, 1.0) for run in made])
            for run, (scheme, number) in stage.each(zip(made, planned, strict=True)):
                about = [f"{metadata.file.name}: `{scheme}` is not in `cc_schemes`"] if scheme in others else []
                one.add(run, files.of(scheme, number), about)
            finish(results)
    return ResultsDirectory(out, experiment)


def places(source: Path) -> list[Path]:
    """Return the data directories at or below a directory, at most four levels down, by name."""
    return data_directories(source)


def _require_few(file: Path, schemes: int, runs: int) -> None:
    """Refuse more runs than an experiment may have.

    Raises:
        UserError: there are more.
    """
    if schemes * runs > MOST_RUNS:
        made = f"{runs} of {schemes} schemes are {schemes * runs} runs"
        raise UserError(f"{file}: `run_times`: {made}: allowed are at most {MOST_RUNS}")


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
    """A message with names of files in the data directory as they are called there."""
    return message.replace(f"{source}/", "")


_OF_ABSENT = ("flow", "scheme", "acklink")


class _Import:
    """The runs of one data directory on their way into a results directory."""

    def __init__(
        self, source: Path, results: ResultsDirectory, metadata: PantheonMetadata, numbers: Runs, strict: bool
    ) -> None:
        self._source = source
        self._results = results
        self._metadata = metadata
        self._numbers = numbers
        self._strict = strict

    def add(self, run: Run, files: RunFiles, notes: list[str]) -> None:
        """Imports one run; `notes` is what is known to be unusual about it."""
        temporary = run_folder(self._results)
        times, odd = read_times(files.stats, self._strict)
        notes = [*notes, *odd]
        if times is None:
            notes.append(f"{files.stats.name} is missing: the start of the run failed, or it was deleted")
        known = self._known(run, files)
        found: ImportedLog = (
            {"unusable": None} if known else self._read(files, times or RunTimes(), temporary / "packets.parquet")
        )
        reason = found["unusable"]
        measured: RunStats | None = None
        if known:
            measured = statistics_of(known, self._schemes(run))
            notes.append(f"its logs are not there: the numbers are those that Pantheon wrote into {PERFORMANCE}")
        elif reason is None:
            notes += found["oddities"]
            measured, reason, more = self._measured(temporary / "packets.parquet", run, found)
            notes += more
        notes = [_inside(self._source, note) for note in notes]
        if reason is None and measured is not None:
            made = {"backend": IMPORTED.form, "status": "done", "reason": None, **measured}
            statistics = cast("RunStatistics", made)
        else:
            reason = _inside(self._source, str(reason))
            statistics = unsuccessful(IMPORTED.form, "failed", reason)
        imported = cast("ImportTimes", asdict(times or RunTimes()))
        statistics = {**statistics, "imported": imported, "notes": notes}
        log = [f"imported from {files.data.name}, {files.ack.name}, {files.stats.name}", *notes]
        log += [] if reason is None else [f"not usable: {reason}"]
        keep_run(self._results, run, temporary, statistics, log)

    def _known(self, run: Run, files: RunFiles) -> Flows | None:
        """Return the numbers that Pantheon computed of a run, by flow, where its logs are not there."""
        if files.data.is_file() or files.raw.data:
            return None
        return self._numbers.get(files.scheme, {}).get(run.run)

    def _schemes(self, run: Run) -> list[str]:
        return [plan.scheme for plan in self._results.experiment.flow_plans(run.scheme, run.path)]

    def _read(self, files: RunFiles, times: RunTimes, packets: Path) -> ImportedLog:
        """What the logs of a run hold; `unusable` says why they cannot be used, if so, and names all that are bad."""
        data, ack = str(files.data), str(files.ack) if files.ack.is_file() else None
        if not files.data.is_file():
            if not files.raw.data:
                return {"unusable": f"{files.data.name} is missing{files.instead}"}
            offsets = _offsets(times, self._metadata)
            found = logs.import_raw_logs(files.raw.data, files.raw.ack, offsets, str(packets), self._strict)
            if found["unusable"] and files.raw.ack:
                alone = logs.import_raw_logs(files.raw.data, [], offsets, str(packets), self._strict)
                found = _without_ack(found, alone)
            return found
        read = logs.import_merged_log if files.is_tunnelled else logs.import_mahimahi
        found = read(data, ack, str(packets), self._strict)
        if found["unusable"] and ack is not None:
            # an unusable ACK log costs the ACK metrics, not the run
            alone = read(data, None, str(packets), self._strict)
            if alone["unusable"]:
                back = read(ack, None, str(packets.with_name("ack.parquet")), self._strict)
                packets.with_name("ack.parquet").unlink(missing_ok=True)
                reasons = [alone["unusable"], back["unusable"]]
                return {"unusable": "; ".join(reason for reason in reasons if reason)}
            found = _without_ack(found, alone)
        return found

    def _measured(self, packets: Path, run: Run, found: ImportedLog) -> tuple[RunStats | None, str | None, list[str]]:
        """Return the statistics of a run, why it does not count, if so, and what is unusual about its flows."""
        experiment, there = self._results.experiment, found["flows"]
        planned = [number for number, _ in enumerate(experiment.flow_plans(run.scheme, run.path), 1)]
        notes = []
        if len(there) > MOST_FLOWS:
            return None, f"{len(there)} flows: at most {MOST_FLOWS} are allowed", []
        if there == [0] and self._metadata.flows > 1:
            notes.append(f"the log does not tell its flows apart; planned were {self._metadata.flows}")
        numbers = there if there == [0] else sorted({*planned, *there})
        absent = [number for number in numbers if number not in there]
        notes += [f"flow {number} never started: no packet of it is in the log" for number in absent]
        tells_flows = there != [0] or self._metadata.flows <= 1
        zero_ns = found["log_zero_ns"]
        measured = measure(packets, experiment, run, numbers=numbers, log_zero_ns=zero_ns, tells_flows=tells_flows)
        told = {"init_us": found["init_us"], "events": found["records"], "sim_wall_s": None}
        made = {**measured, "flows": [_with_absent(flow, absent) for flow in measured["flows"]], **told}
        # what Pantheon's own analysis would drop: too short, or a flow without arrivals
        return cast("RunStats", made), measured["network"].get("invalid_reason"), notes


def _without_ack(both: ImportedLog, alone: ImportedLog) -> ImportedLog:
    """What the data log alone holds, and why the other was left out."""
    if alone["unusable"]:
        return alone
    return {**alone, "oddities": [f"{both['unusable']}: the ACK direction is left out", *alone["oddities"]]}


def _with_absent(flow: FlowStats, absent: list[int]) -> FlowStats:
    """Return the metrics of a flow; of one that was not recorded they are null."""
    if flow["flow"] not in absent:
        return flow
    return cast("FlowStats", {key: value if key in _OF_ABSENT else None for key, value in flow.items()})


def _offsets(times: RunTimes, metadata: PantheonMetadata) -> tuple[float, float]:
    """Clock offsets of the data sender and of the receiver, ms; zero unless both were measured, as in Pantheon."""
    if times.local_offset_ms is None or times.remote_offset_ms is None:
        return (0.0, 0.0)
    local, remote = times.local_offset_ms, times.remote_offset_ms
    return (remote, local) if metadata.raw.get("sender_side") == "remote" else (local, remote)
