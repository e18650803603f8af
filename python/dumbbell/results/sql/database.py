"""Databases in ccperf's terms: `results.sqlite` of a results directory, and files that gather many of them.

Both are indexes of the run directories, and can be made anew from these.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.entry import Entry, open_regular
from dumbbell.base.errors import UserError, one_line
from dumbbell.experiment import Experiment
from dumbbell.results.directory import ResultsDirectory
from dumbbell.results.files import require_no_link
from dumbbell.results.numbers import definition, definitions, numbers, sampled_metrics
from dumbbell.results.series.run_files import SAMPLES, kept_names
from dumbbell.results.sql import rows
from dumbbell.results.sql.schema import require_ours, upgrade, views

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

INDEX = "results.sqlite"
_SUFFIXES = ("", "-journal", "-wal", "-shm")
"""Endings of the names of a database and of the files that SQLite keeps beside it."""
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
BUSY_TIMEOUT_S = 30.0
"""Time for which a writer waits for others, s."""


class Database:
    """An open database. Every change is one transaction: a kill leaves the state before or after it.

    Several processes may write at once: a write takes its lock at the beginning and waits for the locks of others.
    """

    def __init__(self, file: Path, gathers: bool = False, copies: bool = True, clock: Clock = SYSTEM_CLOCK) -> None:
        """Open or create `file`, and bring it to this version's schema.

        A database that `gathers` has the runs of many results directories, with `copies` of their time series beside
        it.

        Raises:
            UserError: It cannot be opened or written, or is not dumbbell's.
        """
        self.file = file
        self._clock = clock
        self.gathers = gathers
        self.copies = gathers and copies
        self._known: set[tuple[str, str]] = set()
        self._origins: dict[Path, rows.Origin] = {}
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{file}: {one_line(error)}") from None
        # a link would be followed to another file, and to files beside that
        for suffix in _SUFFIXES:
            require_no_link(file.with_name(f"{file.name}{suffix}"), ", or name the file that it leads to")
        require_own_journal(file)
        with database_errors(self.file):
            self.connection = sqlite3.connect(file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def _prepare(self) -> None:
        self.connection.execute("PRAGMA foreign_keys = ON")
        with transaction(self.connection):
            try:
                upgrade(self.connection)
            except UserError as error:
                raise UserError(f"{self.file}: {error}") from None
            self._define()
        self._keep_log()
        # a power cut may lose the last runs, which are in their directories; no change is ever half done
        self.connection.execute("PRAGMA synchronous = NORMAL")

    def _keep_log(self) -> None:
        """Switch to a write-ahead log, with which readers do not stop writers, and wait for others meanwhile."""
        patience = self._clock.monotonic() + BUSY_TIMEOUT_S
        while self.connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if self._clock.monotonic() > patience:
                    raise
                self._clock.sleep(0.01)

    def _define(self) -> None:
        """Write the definitions, and the views that depend on them if these changed."""
        upsert = (
            "INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entity_kind, name) DO UPDATE SET"
            " (layer, sampling, convention, unit, formula, source) = (excluded.layer, excluded.sampling,"
            " excluded.convention, excluded.unit, excluded.formula, excluded.source)"
        )
        self.connection.executemany(upsert, [astuple(metric) for metric in definitions()])
        self._known = set(self.connection.execute("SELECT entity_kind, name FROM definition"))
        stored_views = dict(self.connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
        for name, statement in views(self._known).items():
            if stored_views.get(name) != statement:
                self.connection.execute(f"DROP VIEW IF EXISTS {name}")
                self.connection.execute(statement)

    def rebuild(self, results: ResultsDirectory, runs: Iterable[RunTable]) -> None:
        """Make the database equal to the run directories; `runs`, given as in `show --json`, are all runs.

        Existing experiments keep their numbers. A gathering database keeps the runs of other places.
        """
        with database_errors(self.file), transaction(self.connection):
            origin = self._origin(results)
            if not self.gathers:  # under any earlier identity
                self.connection.execute("UPDATE experiment SET results_id = ?", (origin.identity,))
            numbers_of_runs = {self._insert(results, origin, run) for run in runs}
            stored_rows = self.connection.execute("SELECT id FROM experiment WHERE results_id = ?", (origin.identity,))
            obsolete = [row for row in stored_rows if row[0] not in numbers_of_runs]
            self.connection.executemany("DELETE FROM experiment WHERE id = ?", obsolete)
        for (number,) in obsolete:
            self._remove_series(number)

    def record(self, results: ResultsDirectory, run: RunTable) -> int:
        """Add or replace one run, given as in `show --json`; return its number."""
        with database_errors(self.file), transaction(self.connection):
            return self._insert(results, self._origin(results), run)

    def _origin(self, results: ResultsDirectory) -> rows.Origin:
        if results.directory not in self._origins:
            origin = rows.Origin.of(results, None if self.gathers else ".")
            self._origins[results.directory] = self._distinct_origin(results, origin) if self.gathers else origin
        return self._origins[results.directory]

    def _distinct_origin(self, results: ResultsDirectory, origin: rows.Origin) -> rows.Origin:
        """Return the origin, with a new identity if the runs of another place have the stated one.

        A moved directory keeps its identity: the stored place is gone, and the numbers are equal.
        """
        stored_rows = self.connection.execute(
            "SELECT id, directory, results FROM experiment WHERE results_id = ? AND results != ?",
            (origin.identity, origin.place),
        ).fetchall()
        if not stored_rows:
            return origin
        runs_by_directory = {run["directory"]: run for run in results.runs()}
        if all(
            not Path(place).exists()
            and directory in runs_by_directory
            and self._has_numbers(number, runs_by_directory[directory])
            for number, directory, place in stored_rows
        ):
            update = "UPDATE experiment SET results = ? WHERE results_id = ?"
            self.connection.execute(update, (origin.place, origin.identity))
            return origin
        identity = hashlib.sha256(f"{origin.identity} {origin.place}".encode()).hexdigest()[:32]
        return replace(origin, identity=identity)

    def _has_numbers(self, number: int, run: RunTable) -> bool:
        """Return True if a run has the numbers of an experiment of the database.

        A number that only one of them has does not count.
        """
        select = "SELECT entity_kind, entity_id, name, value FROM metric WHERE experiment_id = ?"
        current = {value[:3]: value[3] for value in numbers(run)}
        stored_values = {row[:3]: row[3] for row in self.connection.execute(select, (number,))}
        return all(current.get(key, value) == value for key, value in stored_values.items())

    def _insert(self, results: ResultsDirectory, origin: rows.Origin, run: RunTable) -> int:
        experiment: Experiment = results.experiment
        parameters = rows.parameters(experiment, run)
        number = self._number(rows.experiment_row(experiment, origin, run, parameters))
        self._add("parameter", number, rows.parameter_rows(parameters))
        self._add("flow", number, rows.flow_rows(experiment, run))
        self._add("link", number, rows.link_rows(experiment, run))
        self._add_metrics(number, experiment, run)
        self._add_series(number, results.root / run["directory"], run)
        return number

    def _number(self, row: rows.Row) -> int:
        """Return the number of an experiment whose row is now `row`, without other contents."""
        select = "SELECT id FROM experiment WHERE results_id = ? AND directory = ?"
        stored_row = self.connection.execute(select, (row["results_id"], row["directory"])).fetchone()
        if stored_row is not None:
            row = {"id": stored_row[0]} | row
            self.connection.execute("DELETE FROM experiment WHERE id = ?", stored_row)  # and what belongs to it
        insert = f"INSERT INTO experiment ({', '.join(row)}) VALUES ({_places(row)}) RETURNING id"
        number: int = self.connection.execute(insert, tuple(row.values())).fetchone()[0]
        return number

    def _add(self, table: str, number: int, table_rows: Iterable[rows.Row]) -> None:
        values = [{"experiment_id": number} | row for row in table_rows]
        if values:
            statement = f"INSERT INTO {table} ({', '.join(values[0])}) VALUES ({_places(values[0])})"
            self.connection.executemany(statement, [tuple(row.values()) for row in values])

    def _add_metrics(self, number: int, experiment: Experiment, run: RunTable) -> None:
        metrics_per_interval, interval_s = sampled_metrics(), experiment.sample_interval_s
        values = [
            (number, *value, interval_s if (value[0], value[2]) in metrics_per_interval else None)
            for value in numbers(run)
        ]
        for _, kind, _, name, *_ in values:
            if (kind, name) not in self._known:
                insert = "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                self.connection.execute(insert, astuple(definition(kind, name)))
                self._known.add((kind, name))
        columns = "experiment_id, entity_kind, entity_id, name, value, sample_interval_s"
        insert = f"INSERT INTO metric ({columns}) VALUES (?, ?, ?, ?, ?, ?)"
        self.connection.executemany(insert, values)

    def _add_series(self, number: int, folder: Entry, run: RunTable) -> None:
        """Register the time series, by names relative to the database; copies outlive the results directory."""
        place = os.path.relpath(folder.path, self.file.parent)
        if self.copies:
            series = self._series(number)
            place = f"{series.parent.name}/{series.name}"
            self._remove_series(number)
            for file in kept_names(folder) & {file for file, _ in SAMPLES.values()}:
                series.mkdir(parents=True, exist_ok=True)
                _copy(folder / file, series / file)
        self._add("series", number, rows.series_rows(folder, run, place, packet_log=not self.copies))

    def _remove_series(self, number: object) -> None:
        """Remove the copies of an experiment; an invalid number means that somebody else has written the database."""
        if self.copies and isinstance(number, int):
            shutil.rmtree(self._series(number), ignore_errors=True)

    def _series(self, number: int) -> Path:
        """Return the directory in which a gathering database keeps the series of an experiment.

        Raises:
            UserError: A link stands there, which may lead to somebody else's files.
        """
        place = self.file.with_name(f"{self.file.name}.series") / str(number)
        require_no_link(place.parent)
        require_no_link(place)
        return place

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def _copy(file: Entry, target: Path) -> None:
    with file.open_regular() as source, target.open("wb") as out:
        shutil.copyfileobj(source, out)


@contextmanager
def database_errors(file: Path) -> Iterator[None]:
    """Turn errors of a database into one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise UserError(f"{file}: {_reason(error)}") from None
    except UnicodeDecodeError as error:  # error of a text in the database
        raise UserError(f"{file}: is damaged ({one_line(error)})") from None
    except OSError as error:
        raise UserError(f"{file}: {one_line(error)}") from None


def require_own_journal(file: Path | Entry) -> None:
    """Refuse a journal beside a database if it names a file that SQLite would remove.

    SQLite writes such a journal when one change is made to several databases, which dumbbell never does. The last bytes
    of the journal show it (https://sqlite.org/fileformat.html, The Rollback Journal).

    Raises:
        UserError: It is such a journal.
    """
    journal = file.parent / f"{file.name}-journal"
    try:
        with open_regular(journal) as stream:
            stream.seek(-min(len(_JOURNAL_MAGIC), os.fstat(stream.fileno()).st_size), os.SEEK_END)
            names_a_file = stream.read() == _JOURNAL_MAGIC
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{journal}: {one_line(error)}") from None
    if names_a_file:
        raise UserError(f"{journal}: names another file, and is not of dumbbell: remove it")


def start_anew(file: Path) -> None:
    """Remove an index, which is made anew from the run directories.

    Somebody else's directory may have an index with a journal that makes SQLite remove another file.

    Raises:
        UserError: It is a link, no file, or not dumbbell's.
    """
    require_no_link(file)
    if file.exists():
        if not file.is_file():
            raise UserError(f"{file}: is no regular file: remove it")
        # neither a journal nor a log beside it is read
        name = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
        with database_errors(file), closing(sqlite3.connect(name, uri=True)) as connection:
            try:
                require_ours(connection)
            except UserError as error:
                raise UserError(f"{file}: {error}") from None
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{file}{suffix}")  # noqa: PTH108 (a link or a pipe as well)


def _reason(error: sqlite3.Error) -> str:
    reasons = {
        "SQLITE_BUSY": f"another program has held the database for more than {BUSY_TIMEOUT_S:g} s",
        "SQLITE_FULL": "its disk is full",
        "SQLITE_IOERR": "cannot be written",
        "SQLITE_READONLY": "cannot be written",
        "SQLITE_CANTOPEN": "cannot be opened",
        "SQLITE_NOTADB": "is no database",
        "SQLITE_CORRUPT": "is damaged",
    }
    code = getattr(error, "sqlite_errorname", None) or ""
    reason = next((text for start, text in reasons.items() if code.startswith(start)), None)
    return f"{reason} ({one_line(error)})" if reason else one_line(error)


def _places(row: rows.Row) -> str:
    return ", ".join("?" * len(row))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Make changes together: all, or none after an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
