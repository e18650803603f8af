"""Cache of the numbers of a results directory's runs: columns of many thousand runs without reading them.

`results.sqlite` of the directory is not used: it came with the results, and may contain anything. This database is in
the user's own cache, and each run in it has the digest of the `stats.json` that was read. If the digest differs, the
file is read again.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.cache import cached
from dumbbell.base.clock import SYSTEM_CLOCK
from dumbbell.base.entry import statuses
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.input_files import JSON, digest
from dumbbell.base.scratch import Scratch
from dumbbell.results.directory import STATISTICS
from dumbbell.results.files import Stamp, stamp_of
from dumbbell.results.kept_experiment import lasting_table
from dumbbell.results.sql.database import INDEX, Database, database_errors, transaction
from dumbbell.results.sql.rows import Origin
from dumbbell.results.sql.schema import SOURCE

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.contract.run import RunTable
    from dumbbell.experiment import Run
    from dumbbell.results.directory import ResultsDirectory

KIND = "runs"
"""Kind of the file in the cache."""
RunKey = tuple[str, str, int]
"""Path, scheme and number of a run."""
StatisticsStamps = Mapping["Run", tuple[Stamp | None, int]]
"""Stamps of the statistics of runs, each with the time for which another change may leave the stamp equal, ns."""
_SETTLED_NS = 2_000_000_000
"""Age of a change after which another one gets another time, on any file system."""


class OpenRuns:
    """An open database with the runs of a directory as they were at opening; the caller closes it."""

    def __init__(self, results: ResultsDirectory) -> None:
        """Bring the kept database up to date, or make one for this object if none can be kept.

        Raises:
            UserError: Neither is possible.
        """
        self._scratch: Scratch | None = None
        opened_runs, file = None, _cache_file(results)
        if file is not None:
            with suppress(OSError), _only_one(file):
                opened_runs = _update_or_remake(results, file)
        if opened_runs is None:
            self._scratch = Scratch("index")
            opened_runs = _update(results, self._scratch.path / INDEX)
        self.connection, self.stamps, self.faults = opened_runs

    def close(self) -> None:
        """Close the file, and remove one that was made for this object."""
        self.connection.close()
        if self._scratch is not None:
            self._scratch.close()


def statistics_stamps(results: ResultsDirectory) -> StatisticsStamps:
    """Return stamps that change whenever the statistics of a run do, for each run with statistics.

    Some file systems keep whole seconds: another change of a new file may leave no trace. Therefore the stamp of a new
    file differs at each look.
    """
    runs = results.planned()
    runs_with_status = zip(runs, statuses(results.folder(run) / STATISTICS for run in runs), strict=True)
    now_ns = SYSTEM_CLOCK.time_ns()
    return {
        run: (stamp_of(status), max(0, status.st_ctime_ns - now_ns + _SETTLED_NS))
        for run, status in runs_with_status
        if status is not None
    }


def _cache_file(results: ResultsDirectory) -> Path | None:
    place = cached(KIND, results.directory.absolute(), lasting_table(results.experiment))
    return None if place is None else place.path


@contextmanager
def _only_one(file: Path) -> Iterator[None]:
    """Wait until no other process updates the file, and keep other processes away meanwhile.

    Raises:
        OSError: A lock is impossible.
    """
    lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


UpdatedRuns = tuple[sqlite3.Connection, StatisticsStamps, Mapping[RunKey, str]]
"""An open database, the stamps of the statistics, and the faults of damaged ones."""


def _update_or_remake(results: ResultsDirectory, file: Path) -> UpdatedRuns | None:
    """Return the updated database; None if nothing can be kept, as on a full disk. A broken file is made anew."""
    for _ in range(2):
        with suppress(UserError, OSError, sqlite3.Error):
            return _update(results, file)
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                file.with_name(f"{file.name}{suffix}").unlink(missing_ok=True)
    return None


def _update(results: ResultsDirectory, file: Path) -> UpdatedRuns:
    stamps = statistics_stamps(results)
    faults = {}
    with closing(_Cache(file)) as database, database_errors(file), transaction(database.connection):
        digests = database.digests()
        obsolete = digests.copy()
        for run in stamps:
            key = (run.path, run.scheme, run.run)
            obsolete.pop(key, None)
            try:
                content = digest(results.folder(run) / STATISTICS, JSON)
                if digests.get(key) == content:
                    continue
                statistics = results.statistics(run)
            except (UserError, OSError) as error:
                faults[key] = one_line(error).replace(f"{results.folder(run)}/", "")
            else:
                if statistics is not None:
                    database.put(results, results.complete(run, statistics), content)
        database.remove(obsolete.keys() | faults.keys())
    return _snapshot(file), stamps, faults


def _snapshot(file: Path) -> sqlite3.Connection:
    """Return a connection to the database in its current state, without later additions by another process.

    Raises:
        sqlite3.Error: The database cannot be opened.
    """
    name = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(name, uri=True, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("BEGIN")
        (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
    except BaseException:
        connection.close()
        raise
    return connection


class _Cache(Database):
    """Database of the cache. Each run in it has the digest of the file with its numbers."""

    _NOWHERE = Origin("", ".", None, None)

    def digests(self) -> dict[RunKey, str]:
        """Return the digests of the runs in the database."""
        self.connection.execute(SOURCE.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        select = "SELECT path, aut, run, sha256 FROM experiment JOIN source ON experiment_id = id"
        return {(path, scheme, run): content for path, scheme, run, content in self.connection.execute(select)}

    def put(self, results: ResultsDirectory, run: RunTable, content: str) -> None:
        """Add or replace a run with the digest of its statistics."""
        number = self._insert(results, self._NOWHERE, run)
        self.connection.execute("INSERT INTO source VALUES (?, ?)", (number, content))

    def remove(self, runs: Iterable[RunKey]) -> None:
        """Remove runs."""
        self.connection.executemany("DELETE FROM experiment WHERE (path, aut, run) = (?, ?, ?)", runs)

    def _add_series(self, number: int, folder: Entry, run: RunTable) -> None:
        """Add nothing, since the cache serves no series."""
