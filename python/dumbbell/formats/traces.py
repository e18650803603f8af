"""Import of recordings at the ends of connections: a results directory with a scheme and a run for each trace."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell import core
from dumbbell.base.backend import IMPORTED
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.input_files import LOG, check_regular, require_size
from dumbbell.base.names import fitted, unlike
from dumbbell.base.progress import Piece, Progress
from dumbbell.catalog.experiment_settings import MOST_SECONDS
from dumbbell.catalog.path import PathModel
from dumbbell.contract.packet_logs import LogTells, MeasureOptions
from dumbbell.core import logs
from dumbbell.experiment import Experiment
from dumbbell.formats.contents import is_of_kind, stem_of, suffix_of, text_of
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.pantheon_stats import RunTimes, stamp
from dumbbell.formats.staging import (
    add_failed,
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

_MOST_STARTED_S = datetime(9999, 12, 31, tzinfo=UTC).timestamp() - MOST_SECONDS
"""Maximum start time, s since 1970, such that a run ends in a year with four digits."""

UNTOLD: LogTells = {"sendings": False, "arrivals": False, "marks": False, "delay": "unknown"}
"""Content of packet records that do not exist."""

Row = tuple[int, int, str, str, float]
"""A sample: time in ns, number of the flow, field, unit, value."""


def _everything() -> LogTells:
    return {}


@dataclass(frozen=True)
class TracedFlow:
    """A flow of a trace. Its times are set if no packet records contain them."""

    number: int
    start_s: float | None = None
    stop_s: float | None = None


@dataclass(frozen=True)
class Trace:
    """Content of a trace, or the reason why it could not be read (`reason`).

    `tells` is the content of its records, as for `measure_log`; `facts` are kept with the run.
    """

    label: str
    source: str
    flows: tuple[TracedFlow, ...] = ()
    packets: Path | None = None
    samples: Path | None = None
    last_s: float = 0.0
    events: int | None = None
    tells: LogTells = field(default_factory=_everything)
    facts: dict[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    start_time: datetime | None = None
    reason: str | None = None


Reader = Callable[[Path, Path, list[str]], list[Trace]]
"""Function that returns the traces of a file, made in their own folder, with labels unlike the given ones."""


def import_traces(
    request: ImportRequest, *, kind: str, suffixes: Sequence[str], notes: str, read: Reader
) -> ResultsDirectory:
    """Import a log of a kind, or all such logs in a directory, into the new directory `out` of a request.

    In a directory the kind of a file is recognized from its content. Unreadable files are failed runs; a note names
    files of other kinds.

    Raises:
        UserError: If there is no log, none can be read, or `out` is in use.
    """
    source, out = Path(request.source), Path(request.out)
    files = files_of(source, suffixes, kind)
    refuse_used(out)
    with staging(out) as directory, Progress() as progress:
        parts = directory / "parts"
        traces: list[Trace] = []
        for index, file in enumerate(reading(progress, files)):
            used = [trace.label for trace in traces]
            folder = parts / str(index)
            folder.mkdir(parents=True)
            try:
                traces += read(file, folder, used)
            except core.Error as error:
                if "cannot write" in str(error) and str(folder) in str(error):
                    raise  # the output cannot be written, so the log is not to blame
                traces.append(Trace(label_of(stem_of(file), used, kind), file.name, reason=one_line(error)))
        traces = _with_skipped(_usable(source, traces), _skipped(source, files))
        experiment = _write(directory, source, kind, traces, notes, list(request.command), progress)
        shutil.rmtree(parts)
    return ResultsDirectory(out, experiment)


_READ_S_PER_BYTE = 3e-9
"""Estimated time to read a byte, s: a third of it for captures, three times for qlogs. Finished files correct it."""


def reading(progress: Progress, files: Sequence[Path]) -> Iterator[Path]:
    """Yield the files, and show the progress."""
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    pieces = [Piece(file.name, size * _READ_S_PER_BYTE) for file, size in zip(files, sizes, strict=True)]
    return progress.expect("files", pieces).iterate(files)


def files_of(source: Path, suffixes: Sequence[str], kind: str | None = None) -> list[Path]:
    """Return a file, or the files of a kind in a directory; without a `kind` those with the suffixes.

    Raises:
        UserError: If there is no such file.
    """
    if source.is_dir():
        candidates = sorted(file for file in source.iterdir() if file.is_file() and not file.name.startswith("."))
        if kind is None:
            files = [file for file in candidates if suffix_of(file) in suffixes]
        else:
            files = [file for file in candidates if is_of_kind(file, kind, suffixes)]
        if not files:
            raise UserError(
                f"{source}: there is no file in it that ends in {' or '.join(suffixes)} or has such content"
            )
        return files
    if not source.exists():
        raise UserError(f"{source}: no such file or directory")
    check_regular(source)
    return [source]


_MOST_NAMED = 10


def _skipped(source: Path, files: Sequence[Path]) -> list[str]:
    """Return the names in a directory that are not imported, except hidden ones."""
    if not source.is_dir():
        return []
    other_names = {entry for entry in source.iterdir() if not entry.name.startswith(".")} - set(files)
    return sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in other_names)


def _with_skipped(traces: list[Trace], skipped_names: Sequence[str]) -> list[Trace]:
    """Return the traces. The first usable one gets a note about the skipped names."""
    if not skipped_names:
        return traces
    more = f" and {len(skipped_names) - _MOST_NAMED} more" if len(skipped_names) > _MOST_NAMED else ""
    note = f"not imported from the directory: {', '.join(skipped_names[:_MOST_NAMED])}{more}"
    first = next(index for index, trace in enumerate(traces) if trace.reason is None)
    traces[first] = replace(traces[first], notes=(*traces[first].notes, note))
    return traces


def read_log(file: Path) -> str:
    """Return the text of a log, which may be compressed, in UTF-8 or UTF-16.

    Raises:
        UserError: If the log is no file, empty, too long, or no text.
    """
    require_size(file, LOG, check_regular(file))
    content = core.read_compressed(str(file), LOG.most_bytes)
    try:
        text = text_of(content)
    except UnicodeDecodeError:
        raise UserError(f"{file}: is no text in UTF-8 or UTF-16") from None
    if not text:
        raise UserError(f"{file}: is empty")
    if "\0" in text:
        raise UserError(f"{file}: is no text: it has a NUL character")
    return text


def started_at(file: Path, seconds: float) -> datetime:
    """Return the start time of a trace in `file`, from s since 1970.

    Raises:
        UserError: If the time is out of bounds.
    """
    if not 0.0 <= seconds <= _MOST_STARTED_S:
        raise UserError(f"{file}: begins {seconds:.0f} s after 1970: allowed are the years 1970 to 9999")
    return datetime.fromtimestamp(seconds, UTC)


def label_of(text: str, used: Sequence[str], otherwise: str, number: int | None = None) -> str:
    """Return a label for a trace from a text, such as its file name: valid as a directory name, and not in `used`."""
    name = fitted(text, otherwise)
    if number is not None:
        name = f"{name}-{number}"
    return unlike(name, used)


def _usable(source: Path, traces: Sequence[Trace]) -> list[Trace]:
    """Return the traces. A trace that is longer than a run may be gets this as its reason.

    Raises:
        UserError: If no trace is usable; the message has all reasons in one line.
    """
    checked_traces = [_check_length(trace) for trace in traces]
    if any(trace.reason is None for trace in checked_traces):
        return checked_traces
    reasons = list(dict.fromkeys(trace.reason for trace in checked_traces if trace.reason is not None))
    if len(reasons) == 1:
        raise UserError(reasons[0])
    parts = "files" if source.is_dir() else "parts"
    raise UserError(f"{source}: none of its {len(checked_traces)} {parts} can be used: {'; '.join(reasons)}")


def _check_length(trace: Trace) -> Trace:
    try:
        require_length(trace.source, trace.last_s)
    except UserError as error:
        return replace(trace, reason=str(error), last_s=0.0, notes=())
    return trace


def require_length(source: str, last_s: float) -> None:
    """Raise an error if a trace is longer than a run may be.

    Raises:
        UserError: If the trace is too long; the message names `source`.
    """
    if last_s > MOST_SECONDS:
        raise UserError(
            f"{source}: lasts {last_s:.0f} s, more than the {MOST_SECONDS:.0f} that a run may last: cut it into parts "
            "by time"
        )


def _write(
    directory: Path,
    source: Path,
    kind: str,
    traces: Sequence[Trace],
    notes: str,
    command: list[str],
    progress: Progress,
) -> Experiment:
    """Make `directory` the results of `traces` from a log of a kind; return their experiment.

    Raises:
        UserError: If a trace contradicts itself.
    """
    experiment = _experiment(source, kind, traces)
    results = begin(directory, experiment, source, command)
    by_label = {trace.label: trace for trace in traces}
    runs = experiment.all_runs()
    stage = progress.expect("imports of runs", [Piece(run.label, 1.0) for run in runs])
    for run in stage.iterate(runs):
        trace = by_label[run.scheme]
        if trace.reason is not None:
            add_failed(results, run, trace.reason, trace.source)
            continue
        run_statistics = _measure(trace)
        trace_facts = {"events": trace.events, "init_us": None, kind: trace.facts, "notes": list(trace.notes)}
        # a trace has no planned length, so it cannot be too short as Pantheon's runs can
        network = {**run_statistics["network"], "valid": True, "invalid_reason": None}
        complete = {**run_statistics, "network": network, **trace_facts, "imported": asdict(_times(trace))}
        files = [file for file in (trace.packets, trace.samples) if file is not None]
        add_run(results, run, files, cast("RunStats", complete), trace.source)
    note_lines = [f"{trace.label}: {note}" for trace in traces for note in trace.notes]
    sentences = " ".join(notes.split())
    (directory / "notes.txt").write_text("\n".join([sentences, *note_lines]) + "\n", encoding="utf-8")
    finish(results)
    return experiment


def _times(trace: Trace) -> RunTimes:
    """Return the recording time of a trace, UTC, as far as it is known."""
    if trace.start_time is None:
        return RunTimes()
    end_time = trace.start_time + timedelta(seconds=trace.last_s)
    return RunTimes(stamp(trace.start_time), stamp(end_time))


def _experiment(source: Path, kind: str, traces: Sequence[Trace]) -> Experiment:
    name = fitted(source.stem, kind)
    path = PathModel(name=name, title=f"{kind}: {source.name}", provenance=f"unknown: as {kind} recorded it")
    return imported_experiment(path, [trace.label for trace in traces], max(trace.last_s for trace in traces))


def _measure(trace: Trace) -> RunStats:
    options: MeasureOptions = {
        "duration_s": trace.last_s,
        "flows": [
            {"flow": flow.number, "scheme": trace.label, "start_s": flow.start_s, "stop_s": flow.stop_s}
            for flow in trace.flows
        ],
        "tells": trace.tells,
    }
    if trace.samples is not None:
        options["stated"] = str(trace.samples)
    packets = None if trace.packets is None else str(trace.packets)
    statistics = logs.measure_log(packets, options)
    for flow in statistics["flows"]:
        if flow["packets_delivered"] and flow["loss_rate"] == 1.0 and flow["bytes_sent"]:
            number, delivered_packets = flow["flow"], flow["packets_delivered"]
            raise UserError(
                f"{trace.source}: flow {number} has lost everything and {delivered_packets} packets arrived: a "
                f"mistake of {IMPORTED.wording.test}s, please report it"
            )
    return statistics
