"""Logs of QUIC stacks (`.qlog`, `.sqlog`): what senders saw.

A trace contains the time of a packet's acknowledgement, not of its arrival: the former counts as its delivery.
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
"""Ratio of received to sent bytes above which an end was the receiver of the data."""


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a qlog file, or every one in a directory.

    Raises:
        UserError: If there is no file, none can be read, or `out` is in use. The message has file and line.
    """
    return import_traces(request, kind="qlog", suffixes=SUFFIXES, notes=NOTES, read=_read)


def _read(file: Path, folder: Path, used: list[str]) -> list[Trace]:
    parts = logs.import_qlog(str(file), str(folder))
    traces: list[Trace] = []
    for number, qlog_trace in enumerate(parts, 1):
        labels = [*used, *(trace.label for trace in traces)]
        label = label_of(stem_of(file), labels, "qlog", number if len(parts) > 1 else None)
        part = folder / str(number)
        notes = tuple(_notes(qlog_trace))
        traces.append(
            Trace(
                label=label,
                source=file.name,
                flows=(TracedFlow(1),),
                packets=part / "packets.parquet",
                samples=part / "flows.parquet",
                last_s=qlog_trace["last_s"],
                events=qlog_trace["events"],
                tells={"arrivals": qlog_trace["acked"] > 0, "marks": False, "delay": "round-trip"},
                facts={key: value for key, value in qlog_trace.items() if key != "notes"},
                notes=notes,
            )
        )
    return traces


def _notes(trace: ImportedTrace) -> list[str]:
    """Return the notes about a trace, the core's notes first."""
    notes = list(trace["notes"])
    if not trace["acked"]:
        ack_frames = trace["ack_frames"]
        frames = f"{ack_frames} ACK frames, none of a packet that was sent" if ack_frames else "no acknowledged packets"
        notes.append(f"the trace has {frames}: what arrived, and how much was lost, is not known")
    sent_bytes, received_bytes = trace["sent_bytes"], trace["received_bytes"]
    if received_bytes > _OTHER_END * sent_bytes:
        end = trace["vantage_point"]
        notes.append(
            f"written by the receiver of the data{f' (the {end})' if end in ('client', 'server') else ''}, which got "
            f"{received_bytes / 1e6:.3f} MB and sent {sent_bytes / 1e6:.3f} MB: all numbers are of its own packets; "
            f"those of the data are in the qlog of the {'server' if end == 'client' else 'other end'}"
        )
    return notes
