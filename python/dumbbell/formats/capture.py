"""Packet captures, pcap and pcapng, of one end or of both, as a results directory."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import UserError
from dumbbell.formats.traces import Trace, TracedFlow, files_of, import_traces, label_of, started_at
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

    With `receiver`, the capture of the other end, packets are found again there, and delays are one way. `scheme` names
    what made the traffic of a single capture.

    Raises:
        UserError: there is none, none can be read, or `out` is in use.
    """
    if receiver is not None and source.is_dir():
        raise UserError(
            f"{source}: is a directory: --receiver needs the capture of the sender beside that of the receiver"
        )
    name = scheme if len(files_of(source, SUFFIXES)) == 1 else None
    read = partial(_read, receiver=receiver, end=end, clocks=clocks, name=name)
    return import_traces(source, out, command, kind="capture", suffixes=SUFFIXES, notes=NOTES, read=read)


def _read(
    file: Path, folder: Path, used: list[str], *, receiver: Path | None, end: str | None, clocks: str, name: str | None
) -> list[Trace]:
    """The flows of a capture, those that were seen alike together."""
    label = label_of(file.stem if name is None else name, used, "capture")
    source = file.name if receiver is None else f"{file.name} and {receiver.name}"
    other = None if receiver is None else str(receiver)
    found = json.loads(_core.import_capture(str(file), other, end, clocks, str(folder)))
    return [
        _trace(file, label if len(found) == 1 else f"{label}-{held['name']}", source, folder, held) for held in found
    ]


def _trace(file: Path, label: str, source: str, folder: Path, held: dict[str, Any]) -> Trace:
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
