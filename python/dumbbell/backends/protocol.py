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
    """Executes runs with a backend. Its class is `EXECUTOR` of the backend's module.

    It is sent to other processes with each run, so it keeps of an experiment only what its runs need.
    """

    @classmethod
    def of(cls, backend: Backend, settings: Settings) -> Self:
        """Return the executor of an experiment's runs."""

    @property
    def backend(self) -> Backend:
        """The backend, with its argument."""

    def check(self, specification: RunSpec) -> None:
        """Asks whether the run can be executed, which changes nothing.

        Raises:
            dumbbell.core.Error: the reason why not.
        """

    def prepared(self, experiment: Experiment) -> AbstractContextManager[None]:
        """Holds this machine ready for the experiment's runs.

        Raises:
            UserError: it cannot be made ready.
        """

    def environment(self, experiment: Experiment) -> dict[str, object]:
        """What its numbers depend on beside what is recorded of every experiment."""

    def enter(self) -> str | None:
        """Called once in each process that executes runs, before it has a second thread; why it cannot, if so."""

    def run_one(self, specification: RunSpec, directory: Path, note: Note) -> RunStats:
        """Execute a run into an empty directory. Return its statistics, with `status` and `reason` unless it is done.

        `note` adds a line to its log.

        Raises:
            dumbbell.core.Error: the reason why it failed.
        """

    def clean_up(self) -> None:
        """Ends what runs that were cut short left behind."""
