"""Where runs are recorded while they are executed: each experiment's own database, and one more on request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError
from dumbbell.results.directory import ResultsDirectory
from dumbbell.results.sql.database import INDEX, Database, start_anew

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable


@dataclass(frozen=True)
class Gathering:
    """A database that gathers the runs of several experiments.

    It takes copies of their time series, or without `copies` refers to those in the results directories.
    """

    file: Path
    copies: bool = True


class Recording:
    """The open databases of the experiments that are executed together.

    One that fails on the way (a full disk) is left out from then on and named in `failures`: the run directories hold
    everything, and resuming writes it again.
    """

    def __init__(self, parts: list[ResultsDirectory], gathering: Gathering | None = None) -> None:
        """Opens them and makes them say what is finished already; `gathering` is the one on request.

        Raises:
            UserError: one of them cannot be written.
        """
        self.failures: list[str] = []
        self._gathering: Database | None = None
        self._indexes: dict[Path, Database] = {}
        try:
            if gathering is not None:
                self._gathering = Database(gathering.file, gathers=True, copies=gathering.copies)
            for results in parts:
                start_anew(results.directory / INDEX)
                index = self._indexes[results.directory] = Database(results.directory / INDEX)
                index.rebuild(results, results.settled())
                if self._gathering is not None:
                    self._gathering.rebuild(results, results.settled())
        except BaseException:
            self.close()
            raise

    def record(self, results: ResultsDirectory, run: RunTable) -> None:
        """Adds a run of one of the experiments, given as in `show --json`."""
        index = self._indexes.get(results.directory)
        if index is not None and not self._added(index, results, run):
            del self._indexes[results.directory]
        if self._gathering is not None and not self._added(self._gathering, results, run):
            self._gathering = None

    def _added(self, database: Database, results: ResultsDirectory, run: RunTable) -> bool:
        try:
            database.record(results, run)
        except UserError as error:
            self.failures.append(str(error))
            database.close()
            return False
        return True

    def close(self) -> None:
        """Closes them."""
        for database in (*self._indexes.values(), self._gathering):
            if database is not None:
                database.close()
