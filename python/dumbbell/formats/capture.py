"""Packet captures, pcap and pcapng, of one end or of both, as a results directory."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from dumbbell.base.errors import UserError, argument
from dumbbell.contract.packet_logs import CapturedFlow, ImportedCapture
from dumbbell.core import logs
from dumbbell.formats.contents import stem_of
from dumbbell.formats.traces import Trace, TracedFlow, files_of, import_traces, label_of, started_at
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from packet captures: headers only, of TCP and of QUIC or other UDP.
"""
SUFFIXES = (".pcap", ".pcapng", ".cap")
ENDS = ("sender", "receiver")
CLOCKS = ("auto", "stamps", "unknown")
NOTED_IDLE_S = 1.0


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

    With `receiver`, the capture of the other end, packets are found again there, and delays are one way. `scheme` names
    what made the traffic of a single capture.

    Raises:
        UserError: there is none, none can be read, or `out` is in use.
    """
    if receiver is not None and source.is_dir():
        raise UserError(
            f"{source}: is a directory: "
            f"{argument('receiver')} needs the capture of the sender beside that of the receiver"
        )
    name = scheme if len(files_of(source, SUFFIXES, "capture")) == 1 else None
    read = partial(_read, receiver=receiver, end=end, clocks=clocks, name=name)
    return import_traces(source, out, command, kind="capture", suffixes=SUFFIXES, notes=NOTES, read=read)


def _read(
    file: Path, folder: Path, used: list[str], *, receiver: Path | None, end: str | None, clocks: str, name: str | None
) -> list[Trace]:
    """The flows of a capture, those that were seen alike together."""
    label = label_of(stem_of(file) if name is None else name, used, "capture")
    source = file.name if receiver is None else f"{file.name} and {receiver.name}"
    other = None if receiver is None else str(receiver)
    found = logs.import_capture(str(file), other, end, clocks, str(folder))
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
