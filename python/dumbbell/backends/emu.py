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
"""Status of a run whose emulation reached its end."""
ATTEMPTS = 3
"""Maximum number of emulations of a run. After the last one its lateness is accepted, and reported."""


@dataclass(frozen=True)
class Emulator:
    """The emulator. It makes one run at a time, because two would delay each other."""

    backend: Backend

    @classmethod
    def of(cls, backend: Backend, _settings: Settings) -> Self:
        """Return the emulator. It needs no settings beside the run spec."""
        return cls(backend)

    def check(self, specification: RunSpec) -> None:
        """Check the run spec with the emulator."""
        check_run(specification, "emu")

    @contextmanager
    def prepared(self, experiment: Experiment) -> Iterator[None]:
        """Remove the remains of killed runs, and keep BPF controllers registered with the kernel during the context."""
        from dumbbell.catalog.outside.bpf import bpf_controllers, registered
        from dumbbell.machine.emulation import require_emulation

        require_emulation()
        self.clean_up()
        with registered(bpf_controllers(experiment.schemes.values())):
            yield

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """Return the kernel's TCP settings, the offloads, and the versions of programs."""
        from dumbbell.results.environment import emulation_environment

        return emulation_environment(experiment.schemes.values())

    def enter(self) -> str | None:
        """Gain the right to make network namespaces; return the reason if the right is refused."""
        from dumbbell.catalog.outside.availability import search_path
        from dumbbell.machine.emulation import gain_rights

        os.environ["PATH"] = search_path()
        try:
            gain_rights()
        except core.Error as error:
            return one_line(error)
        return None

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> RunStatistics:
        """Make one run with real packets, and repeat it if this machine was too busy for the path's times.

        The last repetition counts. It is invalid if packets were lost that the path did not drop.
        """
        attempt, result_text = 1, ""

        def waits(is_waiting: bool, process: int | None = None, since_s: int | None = None) -> None:
            if is_waiting:
                note(f"waiting for another run{lock_holder(process, since_s)}", True)
            else:
                note(f"attempt {attempt} of {ATTEMPTS} begins", False)

        for attempt in range(1, ATTEMPTS + 1):
            if attempt > 1:
                note(f"attempt {attempt} of {ATTEMPTS} begins, the one before was {result_text}", False)
            shutil.rmtree(directory)
            directory.mkdir()
            live = (str(live_file(directory)), attempt)
            report = emulate(specification, directory, waits, live)
            status, reason = verdict_of(report["emulation"])
            result_text = _STATUS_TEXTS[status] + (f": {reason}" if reason else "")
            note(f"attempt {attempt} of {ATTEMPTS}: {result_text}")
            for remark in real_notes(report["emulation"]):
                note(remark)
            if status == "done":
                break
        verdict = {"status": status, "reason": reason, "attempts": attempt}
        notes = real_notes(report["emulation"])
        complete = {"sim_wall_s": None, **report, **verdict, **({"notes": notes} if notes else {})}
        return cast("RunStatistics", complete)

    def clean_up(self) -> None:
        """End the remaining processes of an interrupted run's programs."""
        core.clean_up()


_STATUS_TEXTS = {"done": "in time", "degraded": "late", "invalid": "invalid"}
"""Words for statuses."""


def verdict_of(emulation: EmulationReport) -> tuple[Verdict, str | None]:
    """Return the status of an emulated run, and the reason if it is not `done`."""
    if invalid := emulation.get("invalid"):
        return "invalid", invalid
    if degraded_reason := emulation.get("degraded"):
        return "degraded", degraded_reason
    return "done", None


EXECUTOR = Emulator
