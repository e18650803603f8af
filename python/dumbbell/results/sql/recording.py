"""Recording of active runs in databases: one database for each experiment, and an additional one on request."""

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

    It has copies of their time series, or without `copies` refers to those in the results directories.
    """

    file: Path
    copies: bool = True


class Recording:
    """Open databases of the experiments that are executed together.

    A database that fails on the way (a full disk) is left out from then on and named in `failures`. The run directories
    have everything, and resuming writes the database again.
    """

    def __init__(self, parts: list[ResultsDirectory], gathering: Gathering | None = None) -> None:
        """Open the databases and record finished runs; `gathering` is the database on request.

        Raises:
            UserError: A database cannot be written.
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
        """Add a run of one of the experiments, given as in `show --json`."""
        index = self._indexes.get(results.directory)
        if index is not None and not self._add(index, results, run):
            del self._indexes[results.directory]
        if self._gathering is not None and not self._add(self._gathering, results, run):
            self._gathering = None

    def _add(self, database: Database, results: ResultsDirectory, run: RunTable) -> bool:
        try:
            database.record(results, run)
        except UserError as error:
            self.failures.append(str(error))
            database.close()
            return False
        return True

    def close(self) -> None:
        """Close all databases."""
        for database in (*self._indexes.values(), self._gathering):
            if database is not None:
                database.close()
