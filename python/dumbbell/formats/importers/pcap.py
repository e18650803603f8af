"""Packet captures (pcap, pcapng) of one end or of both."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from dumbbell.base.errors import UserError, argument
from dumbbell.contract.packet_logs import CapturedFlow, ImportedCapture
from dumbbell.core import logs
from dumbbell.formats.contents import stem_of
from dumbbell.formats.import_request import CLOCKS, ENDS, ImportRequest
from dumbbell.formats.traces import Trace, TracedFlow, files_of, import_traces, label_of, started_at
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from packet captures: headers only, of TCP and of QUIC or other UDP.
"""
SUFFIXES = (".pcap", ".pcapng", ".cap")
OPTIONS = ("scheme", "receiver", "end", "clocks")
NOTED_IDLE_S = 1.0


def read(request: ImportRequest) -> ResultsDirectory:
    """Import a capture, or every one in a directory.

    With `receiver`, the capture of the other end, packets are matched, and delays are one-way delays: from the stamps,
    or above the smallest delay if the clocks disagree. `scheme` is the name of the traffic in a single capture.

    Raises:
        UserError: If there is no capture, none can be read, an option is invalid, or `out` is in use.
    """
    for option, value, choices in (("end", request.end, (None, *ENDS)), ("clocks", request.clocks, CLOCKS)):
        if value not in choices:
            raise UserError(f"{option} = {value}: allowed are {', '.join(filter(None, choices))}")
    if request.receiver is not None and request.end is not None:
        raise UserError("end: not with `receiver`: both ends are there")
    source = Path(request.source)
    if request.receiver is not None and source.is_dir():
        raise UserError(
            f"{source}: is a directory: "
            f"{argument('receiver')} needs the capture of the sender beside that of the receiver"
        )
    name = request.scheme if len(files_of(source, SUFFIXES, "capture")) == 1 else None
    read_one = partial(_read, request=request, name=name)
    return import_traces(request, kind="capture", suffixes=SUFFIXES, notes=NOTES, read=read_one)


def _read(file: Path, folder: Path, used: list[str], *, request: ImportRequest, name: str | None) -> list[Trace]:
    """Return the flows of a capture. Flows with equal visibility are in one trace."""
    label = label_of(stem_of(file) if name is None else name, used, "capture")
    receiver = None if request.receiver is None else Path(request.receiver)
    source = file.name if receiver is None else f"{file.name} and {receiver.name}"
    other = None if receiver is None else str(receiver)
    groups = logs.import_capture(str(file), other, request.end, request.clocks, str(folder))
    return [
        _trace(file, label if len(groups) == 1 else f"{label}-{group['name']}", source, folder, group)
        for group in groups
    ]


def _trace(file: Path, label: str, source: str, folder: Path, capture: ImportedCapture) -> Trace:
    part = folder / capture["name"]
    start_time = started_at(file, capture["first_s"])
    start_text = start_time.isoformat(timespec="seconds")
    flows = [
        f"flow {number} is {flow['protocol']} from {flow['from']} to {flow['to']}"
        for number, flow in enumerate(capture["flows"], 1)
    ]
    return Trace(
        label=label,
        source=source,
        flows=tuple(_flow(number, flow) for number, flow in enumerate(capture["flows"], 1)),
        packets=part / "packets.parquet",
        samples=part / "flows.parquet" if capture["has_samples"] else None,
        last_s=capture["last_s"],
        events=capture["records"],
        tells={
            "sendings": capture["tells_sendings"],
            "arrivals": capture["tells_arrivals"],
            "marks": capture["tells_marks"],
            "delay": capture["delays"],
        },
        facts={"started_at": start_text} | {key: capture[key] for key in ("role", "delays", "flows")},
        notes=(f"{'; '.join(flows)}; captured from {start_text}", *capture["notes"], *_idle_notes(capture["flows"])),
        start_time=start_time,
    )


def _flow(number: int, flow: CapturedFlow) -> TracedFlow:
    """Return a flow with the time of its data transfer. The time before and after is no transfer."""
    from_s, to_s = flow["data_s"] or flow["life_s"]
    return TracedFlow(number, from_s, to_s)


def _idle_notes(flows: Sequence[CapturedFlow]) -> Iterator[str]:
    """Yield a note for each connection that lived longer than its data transfer by more than `NOTED_IDLE_S`."""
    for number, flow in enumerate(flows, 1):
        if flow["data_s"] is None:
            continue
        life_s, data_s = (to_s - from_s for from_s, to_s in (flow["life_s"], flow["data_s"]))
        if life_s - data_s > NOTED_IDLE_S:
            yield (
                f"flow {number} lived {life_s:.3f} s, and its data was under way during {data_s:.3f} s of them: rates "
                "are of this time"
            )
