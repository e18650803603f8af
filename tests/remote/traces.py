"""Traces of a run on the machines of the test bed, to check that a run leaves none behind."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from .bed import Bed, BedMachine

_LISTENING_TCP = "0A"


def traces(side: BedMachine) -> frozenset[str]:
    """Return the current processes, devices, named namespaces, sockets and files of a machine."""
    return frozenset(_traces(side))


def left_behind(bed: Bed, before: dict[str, frozenset[str]]) -> list[str]:
    """Return the traces that were not there before, with the machine's name."""
    now = both_machines(bed)
    return sorted(f"{name}: {trace}" for name, current in now.items() for trace in current - before[name])


def both_machines(bed: Bed) -> dict[str, frozenset[str]]:
    """Return the traces of both machines."""
    return {side.name: traces(side) for side in (bed.near, bed.far)}


def _traces(side: BedMachine) -> Iterator[str]:
    proc = Path(f"/proc/{side.inside}")
    for process, line in side.running().items():
        yield f"process {process}: {line}"
    for line in (proc / "net/dev").read_text().splitlines()[2:]:
        yield f"device {line.partition(':')[0].strip()}"
    for line in (proc / "mountinfo").read_text().splitlines():
        if " - nsfs " in line:  # a namespace that is kept without a process
            yield f"mount {line.split()[4]}"
    for kind in ("tcp", "tcp6"):
        for fields in map(str.split, (proc / "net" / kind).read_text().splitlines()[1:]):
            if fields[3] == _LISTENING_TCP:
                yield f"{kind} socket {fields[1]}"
    for kind in ("udp", "udp6"):
        for fields in map(str.split, (proc / "net" / kind).read_text().splitlines()[1:]):
            yield f"{kind} socket {fields[1]}"
    for fields in map(str.split, (proc / "net/unix").read_text().splitlines()[1:]):
        if len(fields) > 7:  # one without a name belongs to processes alone
            yield f"unix socket {fields[7]}"
    kept_folders = (side.environment[name] for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR"))
    for folder in (proc / "root/run", *map(Path, kept_folders)):
        with contextlib.suppress(FileNotFoundError):  # it went while it was listed
            for file in folder.rglob("*"):
                yield f"file {file}"
