"""Packet captures, pcap and pcapng, of one end or of both, as a results directory."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.errors import UserError, one_line
from dumbbell.interchange.staging import refuse_used, staging
from dumbbell.interchange.traces import Trace, TracedFlow, label_of, reading, usable, write_traces
from dumbbell.names import fitted
from dumbbell.progress import Progress
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from packet captures: headers only, of TCP and of QUIC or other UDP.
"""
SUFFIXES = (".pcap", ".pcapng", ".cap")
ENDS = ("sender", "receiver")
CLOCKS = ("auto", "stamps", "unknown")


def import_capture(
    source: Path,
    out: Path,
    command: list[str],
    *,
    receiver: Path | None,
    end: str | None,
    clocks: str,
    scheme: str | None,
) -> ResultsDirectory:
    """Imports a capture, or every one in a directory, into the new directory `out`.

    With `receiver`, the capture of the other end, packets are found again there, and delays are one way. Of a directory
    the files that cannot be read are runs that failed.

    Raises:
        UserError: there is none, none can be read, or `out` is in use.
    """
    files = _files(source)
    if receiver is not None and source.is_dir():
        raise UserError(
            f"{source}: is a directory: --receiver needs the capture of the sender beside that of the receiver"
        )
    refuse_used(out)
    with staging(out) as directory, Progress() as progress:
        parts = directory / "parts"
        traces: list[Trace] = []
        for index, file in enumerate(reading(progress, files)):
            used = [trace.label for trace in traces]
            name = scheme if scheme is not None and len(files) == 1 else None
            traces += _read(file, receiver, end, clocks, parts / str(index), used, name)
        traces = usable(source, traces)
        experiment = write_traces(directory, source, "capture", traces, NOTES, command, progress)
        shutil.rmtree(parts)
    return ResultsDirectory(out, experiment)


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        if not source.exists():
            raise UserError(f"{source}: no such file or directory")
        return [source]
    files = sorted(file for file in source.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise UserError(f"{source}: there is no file in it that ends in {', '.join(SUFFIXES)}")
    return files


def _read(
    file: Path, receiver: Path | None, end: str | None, clocks: str, folder: Path, used: list[str], name: str | None
) -> list[Trace]:
    """The flows of a capture, those that were seen alike together; the file itself where it cannot be read."""
    label = label_of(Path(fitted(name, "capture")) if name else file, used, "capture")
    source = file.name if receiver is None else f"{file.name} and {receiver.name}"
    try:
        other = None if receiver is None else str(receiver)
        found = json.loads(_core.import_capture(str(file), other, end, clocks, str(folder)))
    except _core.Error as error:
        return [Trace(label, source, reason=one_line(error))]
    return [_trace(label if len(found) == 1 else f"{label}-{held['name']}", source, folder, held) for held in found]


def _trace(label: str, source: str, folder: Path, held: dict[str, Any]) -> Trace:
    part = folder / held["name"]
    started = datetime.fromtimestamp(held["first_s"], UTC)
    captured = started.isoformat(timespec="seconds")
    flows = [
        f"flow {number} is {flow['protocol']} from {flow['from']} to {flow['to']}"
        for number, flow in enumerate(held["flows"], 1)
    ]
    return Trace(
        label=label,
        source=source,
        flows=tuple(TracedFlow(number) for number in range(1, len(flows) + 1)),
        packets=part / "packets.parquet",
        samples=part / "flows.parquet" if held["has_samples"] else None,
        last_s=held["last_s"],
        events=held["records"],
        tells={
            "sendings": held["tells_sendings"],
            "arrivals": held["tells_arrivals"],
            "marks": held["tells_marks"],
            "delay": held["delays"],
        },
        facts={"started_at": captured} | {key: held[key] for key in ("role", "delays", "flows")},
        notes=(f"{'; '.join(flows)}; captured from {captured}", *held["notes"]),
        started=started,
    )
