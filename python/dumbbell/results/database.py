"""`results.sqlite`: the numbers of all runs for queries. An index of the run directories, which hold the truth."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.errors import UserError

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL, scheme TEXT NOT NULL, run INTEGER NOT NULL, seed INTEGER,
        backend TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, sim_wall_s REAL, directory TEXT NOT NULL,
        UNIQUE (path, scheme, run)
    )""",
    # entity is flow, link or network; number counts flows and links from 1 and is 0 for the network
    """CREATE TABLE IF NOT EXISTS metrics (
        run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
        entity TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
        PRIMARY KEY (run_id, entity, number, name)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS definitions (
        entity TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, convention TEXT NOT NULL,
        formula TEXT NOT NULL, source TEXT NOT NULL,
        PRIMARY KEY (entity, name)
    )""",
    "CREATE INDEX IF NOT EXISTS metrics_by_name ON metrics (name, entity, number)",
)


class Database:
    """The open database. Every change is one transaction: a kill leaves the state before or after it."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "results.sqlite"
        try:
            self.connection = sqlite3.connect(self.file, isolation_level=None)
            self.connection.execute("PRAGMA foreign_keys = ON")
            with _transaction(self.connection):
                for statement in SCHEMA:
                    self.connection.execute(statement)
                insert = "INSERT OR REPLACE INTO definitions VALUES (?, ?, ?, ?, ?, ?)"
                self.connection.executemany(insert, _definitions())
        except sqlite3.Error as error:
            raise UserError(f"{self.file}: {error}") from None

    def rebuild(self, runs: Iterable[dict[str, Any]]) -> None:
        """Makes the database say what the run directories say."""
        with _transaction(self.connection):
            self.connection.execute("DELETE FROM runs")
            for run in runs:
                self._insert(run)

    def record(self, run: dict[str, Any]) -> None:
        """Adds or replaces one run, given as in `show --json`."""
        with _transaction(self.connection):
            self._insert(run)

    def _insert(self, run: dict[str, Any]) -> None:
        key = (run["path"], run["scheme"], run["run"])
        self.connection.execute("DELETE FROM runs WHERE path = ? AND scheme = ? AND run = ?", key)
        columns = ("seed", "backend", "status", "reason", "sim_wall_s", "directory")
        row = self.connection.execute(
            "INSERT INTO runs (path, scheme, run, seed, backend, status, reason, sim_wall_s, directory)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, *(run[column] for column in columns)),
        ).lastrowid
        values = [(row, *value) for value in numbers(run)]
        self.connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?)", values)

    def close(self) -> None:
        """Closes the file."""
        self.connection.close()


def numbers(run: dict[str, Any]) -> Iterator[tuple[str, int, str, float]]:
    """Every number of a run, as (entity, number, metric, value)."""
    entities = [("network", 0, run["network"])]
    entities += [("flow", index, flow) for index, flow in enumerate(run["flows"], 1)]
    entities += [("link", index, link) for index, link in enumerate(run["links"], 1)]
    for entity, index, table in entities:
        for name, value in _flat(table, ""):
            yield entity, index, name, value


def _flat(table: dict[str, Any], prefix: str) -> Iterator[tuple[str, float]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool) and name != "flow":
            yield prefix + name, float(value)


def _definitions() -> list[tuple[str, ...]]:
    columns = ("level", "name", "unit", "convention", "formula", "source")
    return [tuple(metric[column] for column in columns) for metric in json.loads(_core.metrics())]


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
