"""What was recorded at the ends of connections as a results directory: a scheme for each trace, one run each."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.backends.imported import Imported
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.settings import MOST_SECONDS
from dumbbell.errors import UserError
from dumbbell.experiment import Experiment
from dumbbell.interchange.pantheon_stats import RunTimes
from dumbbell.interchange.staging import add_failed, add_run, begin, finish, imported_experiment
from dumbbell.names import fitted, unlike
from dumbbell.progress import Piece, Progress


@dataclass(frozen=True)
class TracedFlow:
    """A flow of a trace; its times are given where no records of packets say when it was."""

    number: int
    start_s: float | None = None
    stop_s: float | None = None


@dataclass(frozen=True)
class Trace:
    """What was read of one trace, or why it could not be (`reason`).

    `tells` is what its records tell, as `_core.measure_log` takes it; `facts` are kept with the run.
    """

    label: str
    source: str
    flows: tuple[TracedFlow, ...] = ()
    packets: Path | None = None
    samples: Path | None = None
    last_s: float = 0.0
    events: int | None = None
    tells: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    started: datetime | None = None
    reason: str | None = None


_READ_S_PER_BYTE = 3e-9
"""What a byte costs: of captures a third, of qlogs three times as much. Files that were read correct it."""


def reading(progress: Progress, files: Sequence[Path]) -> Iterator[Path]:
    """The files, while progress is said of them."""
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    pieces = [Piece(file.name, size * _READ_S_PER_BYTE) for file, size in zip(files, sizes, strict=True)]
    return progress.expect("files", pieces).each(files)


def label_of(file: Path, used: Sequence[str], otherwise: str, number: int | None = None) -> str:
    """A name for a trace: the file's, made fit for a directory and unlike the others."""
    name = fitted(file.stem, otherwise)
    if number is not None:
        name = f"{name}-{number}"
    return unlike(name, used)


def usable(source: Path, traces: Sequence[Trace]) -> list[Trace]:
    """The traces; those that are longer than a run may be have that as their reason.

    Raises:
        UserError: nothing can be used; all that is wrong, in one line.
    """
    checked = [trace if trace.last_s <= MOST_SECONDS else _too_long(trace) for trace in traces]
    reasons = [trace.reason for trace in checked if trace.reason is not None]
    if len(reasons) < len(checked):
        return checked
    if len(reasons) == 1:
        raise UserError(reasons[0])
    raise UserError(f"{source}: none of its {len(reasons)} files can be used: {'; '.join(reasons)}")


def _too_long(trace: Trace) -> Trace:
    reason = f"{trace.source}: lasts {trace.last_s:.0f} s, more than the {MOST_SECONDS:.0f} that a run may last"
    return replace(trace, reason=reason, last_s=0.0, notes=())


def write_traces(
    directory: Path,
    source: Path,
    kind: str,
    traces: Sequence[Trace],
    notes: str,
    command: list[str],
    progress: Progress,
) -> Experiment:
    """Makes `directory` the results of `traces`, which a log of the given kind held; the experiment they are of.

    Raises:
        UserError: a trace contradicts itself.
    """
    experiment = _experiment(source, kind, traces)
    results = begin(directory, experiment, source, command)
    by_label = {trace.label: trace for trace in traces}
    runs = experiment.all_runs()
    stage = progress.expect("imports of runs", [Piece(run.label, 1.0) for run in runs])
    for run in stage.each(runs):
        trace = by_label[run.scheme]
        if trace.reason is not None:
            add_failed(results, run, trace.reason, trace.source)
            continue
        statistics = _measured(trace)
        statistics |= {"events": trace.events, "init_us": None, kind: trace.facts, "notes": list(trace.notes)}
        statistics["imported"] = asdict(_times(trace))
        # A trace has no planned length that it could fall short of, as Pantheon's runs can.
        statistics["network"] |= {"valid": True, "invalid_reason": None}
        files = [file for file in (trace.packets, trace.samples) if file is not None]
        add_run(results, run, files, statistics, trace.source)
    noted = [f"{trace.label}: {note}" for trace in traces for note in trace.notes]
    sentences = " ".join(notes.split())
    (directory / "notes.txt").write_text("\n".join([sentences, *noted]) + "\n", encoding="utf-8")
    finish(results)
    return experiment


def _times(trace: Trace) -> RunTimes:
    """When it was recorded, as far as it says so; UTC."""
    if trace.started is None:
        return RunTimes()
    ended = trace.started + timedelta(seconds=trace.last_s)
    return RunTimes(f"{trace.started:%Y-%m-%d %H:%M:%S}", f"{ended:%Y-%m-%d %H:%M:%S}")


def _experiment(source: Path, kind: str, traces: Sequence[Trace]) -> Experiment:
    name = fitted(source.stem, kind)
    path = PathModel(name=name, title=f"{kind}: {source.name}", provenance=f"unknown: as {kind} recorded it")
    return imported_experiment(path, [trace.label for trace in traces], max(trace.last_s for trace in traces))


def _measured(trace: Trace) -> dict[str, Any]:
    options: dict[str, Any] = {
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
    statistics: dict[str, Any] = json.loads(_core.measure_log(packets, json.dumps(options)))
    for flow in statistics["flows"]:
        if flow["packets_delivered"] and flow["loss_rate"] == 1.0 and flow["bytes_sent"]:
            number, delivered = flow["flow"], flow["packets_delivered"]
            raise UserError(
                f"{trace.source}: flow {number} has lost everything and {delivered} packets arrived: a mistake of "
                f"{Imported.wording.test}s, please report it"
            )
    return statistics
