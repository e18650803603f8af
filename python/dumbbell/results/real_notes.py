"""What a reader of a run with real packets has to know of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.contract.statistics import BetweenMachines, EmulationReport, QlogReport


def qlogs_of(run: EmulationReport | BetweenMachines) -> Iterator[tuple[str, QlogReport]]:
    """Yield whose each qlog is that a program wrote, and what is known of it; `run` is `emulation` or `remote`."""
    for program in run.get("programs", ()):
        for qlog in program.get("qlogs", ()):
            yield f"flow {program['flow']} {program['side']}", qlog


def real_notes(run: EmulationReport | BetweenMachines) -> list[str]:
    """Return how late a run was, if that is to be known, and what is unusual about the qlogs of its programs."""
    remark = run.get("remark")
    notes = [] if remark is None else [str(remark)]
    return notes + [f"{whose}: qlog {qlog['file']}: {note}" for whose, qlog in qlogs_of(run) for note in qlog["notes"]]
