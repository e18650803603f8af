"""`results.sqlite` of a results directory, opened for reading; anybody may have written it.

No number on a page comes from this file: see `runs_cache.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, one_line
from dumbbell.results.files import Stamp, stamp
from dumbbell.results.numbers import numbers
from dumbbell.results.sql.database import INDEX, require_own_journal
from dumbbell.results.sql.schema import SCHEMA_VERSION, require_nothing_else, require_ours
from dumbbell.results.statistics import ACCEPTED

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.contract.run import RunTable
    from dumbbell.results.directory import ResultsDirectory

_TABLES = {"experiment", "flow", "metric", "parameter"}
_MOST_BYTES, _MOST_STATEMENT_BYTES, _MOST_COLUMNS = 2**24, 2**20, 64
"""Maximum bytes of a value and of a statement in the schema, and maximum columns of a row."""
_STEPS_PER_LOOK, _MOST_LOOKS = 1_000_000, 1_000
"""Instructions of SQLite between two checks, and maximum checks in a statement."""
_UNREADABLE = (UserError, OSError, sqlite3.Error, UnicodeDecodeError)
"""Errors of a stranger's database; the last one concerns a message of SQLite with a name from the database."""


def made_and_failed(results: ResultsDirectory) -> tuple[int, int]:
    """Return the number of runs in the index of a directory, and of those that cannot be used; zeros without an index.

    The numbers are for the progress of runs in progress.
    """
    counting = "SELECT count(*), count(*) FILTER (WHERE status NOT IN (?, ?)) FROM experiment"
    try:
        with closing(open_index(results.root / INDEX, results.is_written)) as connection:
            count, failed_count = connection.execute(counting, ACCEPTED).fetchone()
            return int(count), int(failed_count)
    except _UNREADABLE:
        return 0, 0


def index_state(directory: Path) -> tuple[Stamp | None, ...]:
    """Return the stamps of the files of a directory's index, which change whenever the index does."""
    return tuple(stamp(directory / f"{INDEX}{suffix}") for suffix in ("", "-wal"))


def index_faults(results: ResultsDirectory) -> Iterator[str]:
    """Yield a line if the index of a directory differs from the statistics of its runs; nothing without an index.

    The index may be that of an earlier state, as after files were copied over others, or somebody may have changed it.
    """
    file = results.root / INDEX
    if file.status() is None or results.is_written:
        return
    try:
        with closing(open_index(file, is_written=False)) as connection:
            fault = _difference(results, connection)
    except _UNREADABLE as error:
        fault = one_line(error).removeprefix(f"{file}: ")
    if fault:
        yield f"{INDEX}: {fault}: remove it; `dumbbell run --resume --out DIR` makes that of executed runs anew"


def _difference(results: ResultsDirectory, connection: sqlite3.Connection) -> str:
    """Return the first difference between an index and the runs; empty if there is none."""
    index_rows = connection.execute("SELECT id, directory, status FROM experiment").fetchall()
    runs_by_directory = {str(directory): (number, status) for number, directory, status in index_rows}
    for run in results.settled():
        number, status = runs_by_directory.pop(run["directory"], (None, None))
        if number is None:
            return f"does not have {run['directory']}"
        if status != run["status"]:
            return f"{run['directory']}: says `{status}`, the run is `{run['status']}`"
        if fault := _other_number(connection, number, run):
            return f"{run['directory']}: {fault}"
    planned_places = {results.place(run) for run in results.planned()}  # another check reports runs without statistics
    return next(
        (f"has {place}, which is no run here" for place in runs_by_directory if place not in planned_places), ""
    )


def _other_number(connection: sqlite3.Connection, number: object, run: RunTable) -> str:
    select = "SELECT entity_kind, entity_id, name, value FROM metric WHERE experiment_id = ?"
    stored_values = {row[:3]: row[3] for row in connection.execute(select, (number,))}
    for *key, value in numbers(run):
        kind, entity, name = key
        stored_value = stored_values.pop((kind, entity, name), None)
        if stored_value != value:
            return f"`{name}` of {kind} {entity} is {stored_value}, the run has {value:g}"
    return f"`{next(iter(stored_values))[2]}`, which the run does not have" if stored_values else ""


def open_index(file: Entry, is_written: bool) -> sqlite3.Connection:
    """Open an index of this version read-only, with bounded cost.

    To read beside a writer, SQLite writes into a file of its own beside the index (`-shm`). Without a writer, it writes
    nothing.

    Raises:
        UserError: The file is not regular, or no index of this version.
        OSError: The file cannot be opened, or is a link.
        sqlite3.Error: The file cannot be opened.
    """
    file.open_regular().close()
    require_own_journal(file)
    log = (file.parent / f"{file.name}-wal").status()
    if log is not None and log.st_size and not is_written:
        raise UserError(f"{file}: was not closed by who wrote it")
    still = "" if is_written else "&immutable=1"
    connection = sqlite3.connect(f"{file.path.absolute().as_uri()}?mode=ro{still}", uri=True)
    try:
        _bound(connection)
        if not require_ours(connection) >= _TABLES:
            raise UserError(f"{file}: has not all tables")
        if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
            raise UserError(f"{file}: is of an earlier version")
        require_nothing_else(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _bound(connection: sqlite3.Connection) -> None:
    """Bound the memory and the time that a stranger's database can take."""
    looks = 0

    def look() -> bool:
        nonlocal looks
        looks += 1
        return looks > _MOST_LOOKS

    connection.set_progress_handler(look, _STEPS_PER_LOOK)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MOST_STATEMENT_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, _MOST_COLUMNS)
    connection.text_factory = lambda text: text.decode(errors="replace")
    connection.execute("PRAGMA trusted_schema = OFF")
