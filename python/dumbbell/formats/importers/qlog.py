"""Logs of QUIC stacks (`.qlog`, `.sqlog`): what senders saw.

A trace knows when a packet was acknowledged, not when it arrived: that counts as its delivery.
"""

from pathlib import Path

from dumbbell.contract.packet_logs import ImportedTrace
from dumbbell.core import logs
from dumbbell.formats.contents import stem_of
from dumbbell.formats.import_request import ImportRequest
from dumbbell.formats.traces import Trace, TracedFlow, import_traces, label_of
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


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a qlog file, or every one in a directory.

    Raises:
        UserError: If there is none, none can be read (file and line), or `out` is in use.
    """
    return import_traces(request, kind="qlog", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    found = logs.import_qlog(str(file), str(folder))
    traces: list[Trace] = []
    for number, held in enumerate(found, 1):
        taken = [*used, *(trace.label for trace in traces)]
        label = label_of(stem_of(file), taken, "qlog", number if len(found) > 1 else None)
        part = folder / str(number)
        notes = tuple(_notes(held))
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
                facts={key: value for key, value in held.items() if key != "notes"},
                notes=notes,
            )
        )
    return traces


def _notes(held: ImportedTrace) -> list[str]:
    """Return what a reader has to know of a trace, which begins with the core's notes."""
    notes = list(held["notes"])
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
