"""The database in ccperf's terms: `results.sqlite` of a results directory, and files that gather many of them.

Both are indexes: the run directories hold the truth, and a database can be made anew from them.
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
"""How long a writer waits for the others before it gives up."""


class Database:
    """An open database. Every change is one transaction: a kill leaves the state before or after it.

    Several processes may write at once: a write takes its lock at the beginning and waits for the others'.
    """

    def __init__(self, file: Path, gathers: bool = False, copies: bool = True, clock: Clock = SYSTEM_CLOCK) -> None:
        """Opens or creates `file`, and brings it to this version's schema.

        One that `gathers` holds the runs of many results directories, with `copies` of their time series beside it.

        Raises:
            UserError: it cannot be opened or written, or is not ours.
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
        # a link would be followed to another file, and to what lies beside that
        for suffix in _SUFFIXES:
            require_no_link(file.with_name(f"{file.name}{suffix}"), ", or name the file that it leads to")
        require_own_journal(file)
        with explained(self.file):
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
        # a power cut may cost the last runs, which are in their directories; no change is ever half there
        self.connection.execute("PRAGMA synchronous = NORMAL")

    def _keep_log(self) -> None:
        """Readers do not stop writers: a write-ahead log. The change to it does not wait for others by itself."""
        patience = self._clock.monotonic() + BUSY_TIMEOUT_S
        while self.connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                if self._clock.monotonic() > patience:
                    raise
                self._clock.sleep(0.01)

    def _define(self) -> None:
        """Writes the definitions, and the views whose columns they are where those changed."""
        upsert = (
            "INSERT INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entity_kind, name) DO UPDATE SET"
            " (layer, sampling, convention, unit, formula, source) = (excluded.layer, excluded.sampling,"
            " excluded.convention, excluded.unit, excluded.formula, excluded.source)"
        )
        self.connection.executemany(upsert, [astuple(each) for each in definitions()])
        self._known = set(self.connection.execute("SELECT entity_kind, name FROM definition"))
        stored = dict(self.connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
        for name, statement in views(self._known).items():
            if stored.get(name) != statement:
                self.connection.execute(f"DROP VIEW IF EXISTS {name}")
                self.connection.execute(statement)

    def rebuild(self, results: ResultsDirectory, runs: Iterable[RunTable]) -> None:
        """Makes the database say what the run directories say: `runs`, given as in `show --json`, are all there are.

        Experiments that were there already keep their numbers. What a gathering database has of other places stays.
        """
        with explained(self.file), transaction(self.connection):
            origin = self._origin(results)
            if not self.gathers:  # whatever it was called before
                self.connection.execute("UPDATE experiment SET results_id = ?", (origin.identity,))
            kept = {self._insert(results, origin, run) for run in runs}
            found = self.connection.execute("SELECT id FROM experiment WHERE results_id = ?", (origin.identity,))
            gone = [row for row in found if row[0] not in kept]
            self.connection.executemany("DELETE FROM experiment WHERE id = ?", gone)
        for (number,) in gone:
            self._remove_series(number)

    def record(self, results: ResultsDirectory, run: RunTable) -> int:
        """Adds or replaces one run, given as in `show --json`; its number."""
        with explained(self.file), transaction(self.connection):
            return self._insert(results, self._origin(results), run)

    def _origin(self, results: ResultsDirectory) -> rows.Origin:
        if results.directory not in self._origins:
            origin = rows.Origin.of(results, None if self.gathers else ".")
            self._origins[results.directory] = self._told_apart(results, origin) if self.gathers else origin
        return self._origins[results.directory]

    def _told_apart(self, results: ResultsDirectory, origin: rows.Origin) -> rows.Origin:
        """Return the origin under an identity of its own where the runs of another place have the one that it tells.

        A directory that was moved keeps its identity: the place that is known is gone, and the numbers are the same.
        """
        found = self.connection.execute(
            "SELECT id, directory, results FROM experiment WHERE results_id = ? AND results != ?",
            (origin.identity, origin.place),
        ).fetchall()
        if not found:
            return origin
        here = {run["directory"]: run for run in results.runs()}
        if all(
            not Path(place).exists() and directory in here and self._has_numbers(number, here[directory])
            for number, directory, place in found
        ):
            update = "UPDATE experiment SET results = ? WHERE results_id = ?"
            self.connection.execute(update, (origin.place, origin.identity))
            return origin
        identity = hashlib.sha256(f"{origin.identity} {origin.place}".encode()).hexdigest()[:32]
        return replace(origin, identity=identity)

    def _has_numbers(self, number: int, run: RunTable) -> bool:
        """Return whether a run has the same numbers as an experiment of the database.

        A number that only one of them has does not count.
        """
        select = "SELECT entity_kind, entity_id, name, value FROM metric WHERE experiment_id = ?"
        now = {value[:3]: value[3] for value in numbers(run)}
        known = {row[:3]: row[3] for row in self.connection.execute(select, (number,))}
        return all(now.get(key, value) == value for key, value in known.items())

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
        """The number of an experiment whose row is now `row` and which has nothing else yet."""
        known = "SELECT id FROM experiment WHERE results_id = ? AND directory = ?"
        found = self.connection.execute(known, (row["results_id"], row["directory"])).fetchone()
        if found is not None:
            row = {"id": found[0]} | row
            self.connection.execute("DELETE FROM experiment WHERE id = ?", found)  # and what belongs to it
        insert = f"INSERT INTO experiment ({', '.join(row)}) VALUES ({_places(row)}) RETURNING id"
        number: int = self.connection.execute(insert, tuple(row.values())).fetchone()[0]
        return number

    def _add(self, table: str, number: int, given: Iterable[rows.Row]) -> None:
        values = [{"experiment_id": number} | row for row in given]
        if values:
            statement = f"INSERT INTO {table} ({', '.join(values[0])}) VALUES ({_places(values[0])})"
            self.connection.executemany(statement, [tuple(row.values()) for row in values])

    def _add_metrics(self, number: int, experiment: Experiment, run: RunTable) -> None:
        sampled, interval_s = sampled_metrics(), experiment.sample_interval_s
        values = [(number, *value, interval_s if (value[0], value[2]) in sampled else None) for value in numbers(run)]
        for _, kind, _, name, *_ in values:
            if (kind, name) not in self._known:
                insert = "INSERT OR IGNORE INTO definition VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                self.connection.execute(insert, astuple(definition(kind, name)))
                self._known.add((kind, name))
        columns = "experiment_id, entity_kind, entity_id, name, value, sample_interval_s"
        insert = f"INSERT INTO metric ({columns}) VALUES (?, ?, ?, ?, ?, ?)"
        self.connection.executemany(insert, values)

    def _add_series(self, number: int, folder: Entry, run: RunTable) -> None:
        """Registers the time series, by names relative to the database; copies outlive the results directory."""
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
        """Removes the copies of an experiment; of a number that is none somebody else has written the database."""
        if self.copies and isinstance(number, int):
            shutil.rmtree(self._series(number), ignore_errors=True)

    def _series(self, number: int) -> Path:
        """Return the folder in which a gathering database keeps the series of an experiment.

        Raises:
            UserError: a link stands there, which may lead to somebody else's files.
        """
        place = self.file.with_name(f"{self.file.name}.series") / str(number)
        require_no_link(place.parent)
        require_no_link(place)
        return place

    def close(self) -> None:
        """Closes the file."""
        self.connection.close()


def _copy(file: Entry, target: Path) -> None:
    with file.open_regular() as source, target.open("wb") as out:
        shutil.copyfileobj(source, out)


@contextmanager
def explained(file: Path) -> Iterator[None]:
    """Says in a line what is wrong with a database."""
    try:
        yield
    except sqlite3.Error as error:
        raise UserError(f"{file}: {_reason(error)}") from None
    except UnicodeDecodeError as error:  # of a text in it
        raise UserError(f"{file}: is damaged ({one_line(error)})") from None
    except OSError as error:
        raise UserError(f"{file}: {one_line(error)}") from None


def require_own_journal(file: Path | Entry) -> None:
    """Refuses a journal that was left beside a database if it names a file that SQLite would remove.

    SQLite writes such a journal when one change is made to several databases, which dumbbell never does. The last
    bytes of the journal tell it (https://sqlite.org/fileformat.html, The Rollback Journal).

    Raises:
        UserError: it is such a journal.
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
    """Removes an index, which is made anew of the run directories.

    Somebody else's directory may have one, beside which a journal lies that makes SQLite remove another file.

    Raises:
        UserError: it is a link, no file, or none of ours.
    """
    require_no_link(file)
    if file.exists():
        if not file.is_file():
            raise UserError(f"{file}: is no regular file: remove it")
        # neither a journal nor a log beside it is looked at
        name = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
        with explained(file), closing(sqlite3.connect(name, uri=True)) as connection:
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
