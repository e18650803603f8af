"""The simulator: runs under a virtual clock, with equal packets for equal seeds."""

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
    """The simulator. It runs on any number of CPUs, on this machine or on a cluster."""

    backend: Backend

    @classmethod
    def of(cls, backend: Backend, _settings: Settings) -> Self:
        """Return the simulator. It needs no settings beside the run spec."""
        return cls(backend)

    def check(self, specification: RunSpec) -> None:
        """Check the run spec with the simulator."""
        check_run(specification, "sim")

    def prepared(self, experiment: Experiment) -> AbstractContextManager[None]:
        """Return an empty context: no preparation is needed."""
        return nullcontext()

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """Return an empty table: the numbers depend on no further circumstances."""
        return {}

    def enter(self) -> str | None:
        """Return None: no preparation is needed."""
        return None

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> SimulatedRun:
        """Make one run under the virtual clock."""
        statistics = simulate(specification, directory)
        note(f"done in {statistics['sim_wall_s']:.3f} s")
        return statistics

    def clean_up(self) -> None:
        """Do nothing: no processes remain."""


EXECUTOR = Simulator
