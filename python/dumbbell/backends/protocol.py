"""The protocol of executors. An executor makes runs: each backend has one, in the module of its name."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from dumbbell.base.backend import Backend, Note

if TYPE_CHECKING:
    from dumbbell.catalog.experiment_settings import Settings
    from dumbbell.contract.specification import RunSpec
    from dumbbell.contract.statistics import RunStats
    from dumbbell.experiment import Experiment


class Executor(Protocol):
    """Executor of runs with a backend. Its class is `EXECUTOR` in the backend's module.

    The executor is sent to other processes with each run, so it keeps only the data that the runs need.
    """

    @classmethod
    def of(cls, backend: Backend, settings: Settings) -> Self:
        """Return the executor of an experiment's runs."""

    @property
    def backend(self) -> Backend:
        """The backend, with its argument."""

    def check(self, specification: RunSpec) -> None:
        """Check that the run can be executed, without changing anything.

        Raises:
            dumbbell.core.Error: If the run cannot be executed.
        """

    def prepared(self, experiment: Experiment) -> AbstractContextManager[None]:
        """Keep this machine ready for the experiment's runs during the context.

        Raises:
            UserError: If the machine cannot be made ready.
        """

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """Return the additional circumstances on which the numbers of this backend depend."""

    def enter(self) -> str | None:
        """Prepare a process that executes runs, before it has a second thread; return the reason if this fails."""

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> RunStats:
        """Execute a run into an empty directory. Return its statistics, with `status` and `reason` unless it is done.

        `note` adds a line to the run's log.

        Raises:
            dumbbell.core.Error: If the run failed.
        """

    def clean_up(self) -> None:
        """End the remaining processes of interrupted runs."""
