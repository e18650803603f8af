"""The simulator: runs under a virtual clock, the same packets from the same seed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from dumbbell.base.backend import Backend, Note
from dumbbell.core.runs import check_run, simulate

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings
    from dumbbell.contract.specification import RunSpec
    from dumbbell.contract.statistics import SimulatedRun
    from dumbbell.experiment import Experiment


@dataclass(frozen=True)
class Simulator:
    """Runs on any number of processors, here or on a cluster."""

    backend: Backend

    @classmethod
    def of(cls, backend: Backend, _settings: Settings) -> Self:
        """Needs no settings beside the run specification."""
        return cls(backend)

    def check(self, specification: RunSpec) -> None:
        """Asks the simulator."""
        check_run(specification, "sim")

    def prepared(self, experiment: Experiment) -> AbstractContextManager[None]:
        """Needs nothing."""
        return nullcontext()

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """Its numbers depend on nothing more."""
        return {}

    def enter(self) -> str | None:
        """Needs nothing."""
        return None

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> SimulatedRun:
        """One run under the virtual clock."""
        statistics = simulate(specification, directory)
        note(f"done in {statistics['sim_wall_s']:.3f} s")
        return statistics

    def clean_up(self) -> None:
        """Leaves nothing behind."""


EXECUTOR = Simulator
