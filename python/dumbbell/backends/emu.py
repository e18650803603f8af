"""The emulator: real packets in real time, between network namespaces of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, cast

from dumbbell import core
from dumbbell.base.backend import Backend, Note
from dumbbell.base.errors import one_line
from dumbbell.base.live_file import live_file
from dumbbell.core.runs import check_run, emulate
from dumbbell.machine.emulation_lock import lock_holder
from dumbbell.results.real_notes import real_notes

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.specification import RunSpec
    from dumbbell.contract.statistics import EmulationReport
    from dumbbell.experiment import Experiment

Verdict: TypeAlias = Literal["done", "degraded", "invalid"]
"""Status of a run that was emulated to its end."""
ATTEMPTS = 3
"""How often a run is emulated at most before its lateness is accepted, and said."""


@dataclass(frozen=True)
class Emulator:
    """One run at a time: two would make each other late."""

    backend: Backend

    @classmethod
    def of(cls, backend: Backend, _settings: Settings) -> Self:
        """Needs no settings beside the run specification."""
        return cls(backend)

    def check(self, specification: RunSpec) -> None:
        """Asks the emulator."""
        check_run(specification, "emu")

    @contextmanager
    def prepared(self, experiment: Experiment) -> Iterator[None]:
        """Clears what killed runs left, and keeps the controllers in BPF registered with the kernel."""
        from dumbbell.catalog.outside.bpf import bpf_controllers, registered
        from dumbbell.machine.emulation import require_emulation

        require_emulation()
        self.clean_up()
        with registered(bpf_controllers(experiment.schemes.values())):
            yield

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """The kernel's TCP, offloads, the programs' versions."""
        from dumbbell.results.environment import emulation_environment

        return emulation_environment(experiment.schemes.values())

    def enter(self) -> str | None:
        """Gains the right to make network namespaces; says why not where that is refused."""
        from dumbbell.catalog.outside.availability import search_path
        from dumbbell.machine.emulation import gain_rights

        os.environ["PATH"] = search_path()
        try:
            gain_rights()
        except core.Error as error:
            return one_line(error)
        return None

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> RunStatistics:
        """One run with real packets, repeated where this machine was too busy to keep the path's times.

        The last repetition counts. It is invalid where packets were lost that the path did not drop.
        """
        attempt, said = 1, ""

        def waits(others: bool, process: int | None = None, since_s: int | None = None) -> None:
            if others:
                note(f"waiting for another run{lock_holder(process, since_s)}", True)
            else:
                note(f"attempt {attempt} of {ATTEMPTS} begins", False)

        for attempt in range(1, ATTEMPTS + 1):
            if attempt > 1:
                note(f"attempt {attempt} of {ATTEMPTS} begins, the one before was {said}", False)
            shutil.rmtree(directory)
            directory.mkdir()
            live = (str(live_file(directory)), attempt)
            emulated = emulate(specification, directory, waits, live)
            status, reason = verdict_of(emulated["emulation"])
            said = _SAID[status] + (f": {reason}" if reason else "")
            note(f"attempt {attempt} of {ATTEMPTS}: {said}")
            for remark in real_notes(emulated["emulation"]):
                note(remark)
            if status == "done":
                break
        verdict = {"status": status, "reason": reason, "attempts": attempt}
        notes = real_notes(emulated["emulation"])
        made = {"sim_wall_s": None, **emulated, **verdict, **({"notes": notes} if notes else {})}
        return cast("RunStatistics", made)

    def clean_up(self) -> None:
        """Ends what the programs of a run that was cut short had started."""
        core.clean_up()


_SAID = {"done": "in time", "degraded": "late", "invalid": "invalid"}
"""Statuses in a person's words."""


def verdict_of(emulation: EmulationReport) -> tuple[Verdict, str | None]:
    """Return the status of an emulated run, and the reason if it is not `done`."""
    if invalid := emulation.get("invalid"):
        return "invalid", invalid
    if degraded := emulation.get("degraded"):
        return "degraded", degraded
    return "done", None


EXECUTOR = Emulator
