"""The index of a results directory, opened for reading; anybody may have written it."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError
from dumbbell.results.directory import ACCEPTED
from dumbbell.results.files import Stamp, require_no_link, stamp
from dumbbell.results.sql.database import INDEX, require_own_journal
from dumbbell.results.sql.schema import SCHEMA_VERSION, require_ours

if TYPE_CHECKING:
    from dumbbell.results.directory import ResultsDirectory

_TABLES = {"experiment", "flow", "metric", "parameter"}


def made_and_failed(results: ResultsDirectory) -> tuple[int, int]:
    """Return how many runs the index of a directory has, and how many of them cannot be used; none without an index."""
    counting = "SELECT count(*), count(*) FILTER (WHERE status NOT IN (?, ?)) FROM experiment"
    try:
        with closing(open_index(results.directory / INDEX, results.is_written)) as connection:
            made, failed = connection.execute(counting, ACCEPTED).fetchone()
            return int(made), int(failed)
    except (UserError, OSError, sqlite3.Error):
        return 0, 0


def index_state(directory: Path) -> tuple[Stamp | None, ...]:
    """Return what changes whenever the index of a directory does: the stamps of its files."""
    return tuple(stamp(directory / f"{INDEX}{suffix}") for suffix in ("", "-wal"))


def open_index(file: Path, is_written: bool) -> sqlite3.Connection:
    """Open an index of ours that cannot be changed.

    To read beside a writer, SQLite writes into a file of its own beside the index (`-shm`). Where nobody writes, it
    writes nothing.

    Raises:
        UserError: it is a link, or no index of this version.
        sqlite3.Error: it cannot be opened.
    """
    require_no_link(file)
    require_own_journal(file)
    log = _length(file.with_name(f"{file.name}-wal"))
    if log and not is_written:
        raise UserError(f"{file}: was not closed by who wrote it")
    still = "" if is_written else "&immutable=1"
    connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro{still}", uri=True, check_same_thread=False)
    try:
        if not require_ours(connection) >= _TABLES:
            raise UserError(f"{file}: has not all tables")
        if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
            raise UserError(f"{file}: is of an earlier version")
    except BaseException:
        connection.close()
        raise
    return connection


def _length(file: Path) -> int:
    """Return how long a file is; 0 where there is none.

    Raises:
        UserError: it is a link, or no file.
    """
    try:
        status = file.lstat()
    except OSError:
        return 0
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{file}: is no regular file")
    return status.st_size
