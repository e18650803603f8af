"""What a reader of a run with real packets has to know of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def qlogs_of(run: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield whose each qlog is that a program wrote, and what is known of it; `run` is `emulation` or `remote`."""
    for program in run.get("programs", ()):
        for qlog in program.get("qlogs", ()):
            yield f"flow {program['flow']} {program['side']}", qlog


def real_notes(run: Mapping[str, Any]) -> list[str]:
    """Return how late a run was, if that is to be known, and what is unusual about the qlogs of its programs."""
    remark = run.get("remark")
    notes = [] if remark is None else [str(remark)]
    return notes + [f"{whose}: qlog {qlog['file']}: {note}" for whose, qlog in qlogs_of(run) for note in qlog["notes"]]
