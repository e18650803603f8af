"""qlogs of real QUIC stacks as a results directory: a scheme for each trace, one run each.

A trace knows when a packet was acknowledged, not when it arrived: that counts as its delivery.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.errors import UserError, one_line
from dumbbell.interchange.staging import refuse_used, staging
from dumbbell.interchange.traces import Trace, TracedFlow, label_of, reading, usable, write_traces
from dumbbell.progress import Progress
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from qlogs: what the senders saw. A packet counts as delivered when its acknowledgement arrived.
There are round-trip times and no one-way delays; throughput is what was acknowledged. packet_loss_rate counts the
packets that the sender declared lost and that were not acknowledged later or, where it declared none, those without
acknowledgement. Means of window, bytes in flight and RTT are over time, of what the file states, or null.
"""
SUFFIXES = (".qlog", ".sqlog")
_OTHER_END = 2.0
"""An end that received this many times of what it sent was the receiver of the data."""


def import_qlog(source: Path, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports a qlog file, or every one in a directory, into the new directory `out`.

    Of a directory the files that cannot be read are runs that failed.

    Raises:
        UserError: there is none, none can be read (file and line), or `out` is in use.
    """
    files = _files(source)
    refuse_used(out)
    with staging(out) as directory, Progress() as progress:
        parts = directory / "parts"
        traces: list[Trace] = []
        for index, file in enumerate(reading(progress, files)):
            traces += _read(file, parts / str(index), [trace.label for trace in traces])
        traces = usable(source, traces)
        experiment = write_traces(directory, source, "qlog", traces, NOTES, command, progress)
        shutil.rmtree(parts)
    return ResultsDirectory(out, experiment)


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise UserError(f"{source}: no such file or directory")
    files = sorted(file for file in source.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise UserError(f"{source}: there is no file in it that ends in {' or '.join(SUFFIXES)}")
    return files


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    """The traces of a file; the file itself where it cannot be read."""
    try:
        found = json.loads(_core.import_qlog(str(file), str(folder)))
    except _core.Error as error:
        return [Trace(label_of(file, used, "qlog"), file.name, reason=one_line(error))]
    traces: list[Trace] = []
    for number, held in enumerate(found, 1):
        label = label_of(file, [*used, *(trace.label for trace in traces)], "qlog", number if len(found) > 1 else None)
        part = folder / str(number)
        traces.append(
            Trace(
                label=label,
                source=file.name,
                flows=(TracedFlow(1),),
                packets=part / "packets.parquet",
                samples=part / "flows.parquet",
                last_s=held["last_s"],
                events=held["events"],
                tells={"arrivals": held["acked"] > 0, "marks": False, "delay": "round-trip"},
                facts=held,
                notes=tuple(_notes(held)),
            )
        )
    return traces


def _notes(held: dict[str, Any]) -> list[str]:
    """What a reader has to know of a trace."""
    notes = []
    if not held["acked"]:
        seen = held["ack_frames"]
        frames = f"{seen} ACK frames, none of a packet that was sent" if seen else "no acknowledged packets"
        notes.append(f"the trace has {frames}: what arrived, and how much was lost, is not known")
    sent, received = held["sent_bytes"], held["received_bytes"]
    if received > _OTHER_END * sent:
        end = held["vantage_point"]
        notes.append(
            f"written by the receiver of the data{f' (the {end})' if end in ('client', 'server') else ''}, which got "
            f"{received / 1e6:.3f} MB and sent {sent / 1e6:.3f} MB: all numbers are of its own packets; those of the "
            f"data are in the qlog of the {'server' if end == 'client' else 'other end'}"
        )
    return notes
