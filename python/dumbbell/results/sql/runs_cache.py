"""The numbers of a results directory's runs, kept for this user: columns of many thousand runs without reading them.

`results.sqlite` of the directory is not asked: it came with the results, and may say anything. This database is in the
user's own cache, and each run in it has the digest of the `stats.json` that was read. Where that differs, the file is
read anew.
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
from dumbbell.results.sql.database import INDEX, Database, explained, transaction
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
Seen = Mapping["Run", tuple[Stamp | None, int]]
"""Stamps of the statistics of runs, each with the time for which another change may leave the same stamp, ns."""
_SETTLED_NS = 2_000_000_000
"""Age of a change after which another one has another time, on any file system."""


class OpenRuns:
    """An open database with the runs of a directory as they were when it was opened; to be closed."""

    def __init__(self, results: ResultsDirectory) -> None:
        """Bring the kept database up to date, or make one for this object where none can be kept.

        Raises:
            UserError: neither is possible.
        """
        self._scratch: Scratch | None = None
        found, file = None, _kept(results)
        if file is not None:
            with suppress(OSError), _only_one(file):
                found = _updated(results, file)
        if found is None:
            self._scratch = Scratch("index")
            found = _update(results, self._scratch.path / INDEX)
        self.connection, self.seen, self.damaged = found

    def close(self) -> None:
        """Close the file, and remove one that was made for this object."""
        self.connection.close()
        if self._scratch is not None:
            self._scratch.close()


def seen_now(results: ResultsDirectory) -> Seen:
    """Return what changes whenever the statistics of a run do, for each run that has some.

    Some file systems keep whole seconds: of a file that was changed just now, another change may leave no trace. Such a
    file is another one at each look.
    """
    runs = results.planned()
    found = zip(runs, statuses(results.folder(run) / STATISTICS for run in runs), strict=True)
    now_ns = SYSTEM_CLOCK.time_ns()
    return {
        run: (stamp_of(status), max(0, status.st_ctime_ns - now_ns + _SETTLED_NS))
        for run, status in found
        if status is not None
    }


def _kept(results: ResultsDirectory) -> Path | None:
    place = cached(KIND, results.directory.absolute(), lasting_table(results.experiment))
    return None if place is None else place.path


@contextmanager
def _only_one(file: Path) -> Iterator[None]:
    """Wait until no other process brings the file up to date, and keep them away meanwhile.

    Raises:
        OSError: there can be no lock.
    """
    lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


Updated = tuple[sqlite3.Connection, Seen, Mapping[RunKey, str]]
"""An open database, the statistics that were seen, and what is wrong with those that are damaged."""


def _updated(results: ResultsDirectory, file: Path) -> Updated | None:
    """Return what was found; None where nothing can be kept, as on a full disk. A file that is broken is made anew."""
    for _ in range(2):
        with suppress(UserError, OSError, sqlite3.Error):
            return _update(results, file)
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                file.with_name(f"{file.name}{suffix}").unlink(missing_ok=True)
    return None


def _update(results: ResultsDirectory, file: Path) -> Updated:
    seen = seen_now(results)
    damaged = {}
    with closing(_Cache(file)) as database, explained(file), transaction(database.connection):
        known = database.known()
        left = known.copy()
        for run in seen:
            key = (run.path, run.scheme, run.run)
            left.pop(key, None)
            try:
                content = digest(results.folder(run) / STATISTICS, JSON)
                if known.get(key) == content:
                    continue
                statistics = results.statistics(run)
            except (UserError, OSError) as error:
                damaged[key] = one_line(error).replace(f"{results.folder(run)}/", "")
            else:
                if statistics is not None:
                    database.put(results, results.complete(run, statistics), content)
        database.remove(left.keys() | damaged.keys())
    return _snapshot(file), seen, damaged


def _snapshot(file: Path) -> sqlite3.Connection:
    """Return a connection that sees the database as it is now, whatever another process adds to it later.

    Raises:
        sqlite3.Error: it cannot be opened.
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
    """The database. Each run in it has the digest of the file that its numbers are of."""

    _NOWHERE = Origin("", ".", None, None)

    def known(self) -> dict[RunKey, str]:
        """Return the digests of the runs in it."""
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
        """Add nothing: nobody asks the cache for series."""
