"""Notes for readers of a run with real packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.contract.statistics import BetweenMachines, EmulationReport, QlogReport


def qlogs_of(run: EmulationReport | BetweenMachines) -> Iterator[tuple[str, QlogReport]]:
    """Yield the owner and the report of each qlog that a program wrote; `run` is `emulation` or `remote`."""
    for program in run.get("programs", ()):
        for qlog in program.get("qlogs", ()):
            yield f"flow {program['flow']} {program['side']}", qlog


def real_notes(run: EmulationReport | BetweenMachines) -> list[str]:
    """Return the lateness of a run, if relevant, and the peculiarities of its programs' qlogs."""
    remark = run.get("remark")
    notes = [] if remark is None else [str(remark)]
    return notes + [f"{owner}: qlog {qlog['file']}: {note}" for owner, qlog in qlogs_of(run) for note in qlog["notes"]]
