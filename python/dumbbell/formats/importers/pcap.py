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

    With `receiver`, the capture of the other end, packets are found again there, and delays are one way: as the stamps
    say or, where their clocks disagree, above the smallest. `scheme` names what made the traffic of a single capture.

    Raises:
        UserError: If there is none, none can be read, an option has no such value, or `out` is in use.
    """
    for option, value, allowed in (("end", request.end, (None, *ENDS)), ("clocks", request.clocks, CLOCKS)):
        if value not in allowed:
            raise UserError(f"{option} = {value}: allowed are {', '.join(filter(None, allowed))}")
    if request.receiver is not None and request.end is not None:
        raise UserError("end: not with `receiver`: both ends are there")
    source = Path(request.source)
    if request.receiver is not None and source.is_dir():
        raise UserError(
            f"{source}: is a directory: "
            f"{argument('receiver')} needs the capture of the sender beside that of the receiver"
        )
    name = request.scheme if len(files_of(source, SUFFIXES, "capture")) == 1 else None
    one = partial(_read, request=request, name=name)
    return import_traces(request, kind="capture", suffixes=SUFFIXES, notes=NOTES, read=one)


def _read(file: Path, folder: Path, used: list[str], *, request: ImportRequest, name: str | None) -> list[Trace]:
    """Return the flows of a capture, those that were seen alike together."""
    label = label_of(stem_of(file) if name is None else name, used, "capture")
    receiver = None if request.receiver is None else Path(request.receiver)
    source = file.name if receiver is None else f"{file.name} and {receiver.name}"
    other = None if receiver is None else str(receiver)
    found = logs.import_capture(str(file), other, request.end, request.clocks, str(folder))
    return [
        _trace(file, label if len(found) == 1 else f"{label}-{held['name']}", source, folder, held) for held in found
    ]


def _trace(file: Path, label: str, source: str, folder: Path, held: ImportedCapture) -> Trace:
    part = folder / held["name"]
    started = started_at(file, held["first_s"])
    captured = started.isoformat(timespec="seconds")
    flows = [
        f"flow {number} is {flow['protocol']} from {flow['from']} to {flow['to']}"
        for number, flow in enumerate(held["flows"], 1)
    ]
    return Trace(
        label=label,
        source=source,
        flows=tuple(_flow(number, flow) for number, flow in enumerate(held["flows"], 1)),
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
        notes=(f"{'; '.join(flows)}; captured from {captured}", *held["notes"], *_idle_notes(held["flows"])),
        started=started,
    )


def _flow(number: int, flow: CapturedFlow) -> TracedFlow:
    """Return a flow with the time in which its data was under way: what comes before and after is no transfer."""
    from_s, to_s = flow["data_s"] or flow["life_s"]
    return TracedFlow(number, from_s, to_s)


def _idle_notes(flows: Sequence[CapturedFlow]) -> Iterator[str]:
    """Yield a note on each connection that lived longer than its data was under way by more than `NOTED_IDLE_S`."""
    for number, flow in enumerate(flows, 1):
        if flow["data_s"] is None:
            continue
        life_s, data_s = (to_s - from_s for from_s, to_s in (flow["life_s"], flow["data_s"]))
        if life_s - data_s > NOTED_IDLE_S:
            yield (
                f"flow {number} lived {life_s:.3f} s, and its data was under way during {data_s:.3f} s of them: rates "
                "are of this time"
            )
