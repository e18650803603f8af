"""Tables that commands write, as rows."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def csv_rows(file: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, by its header."""
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def sql_rows(file: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows that a query finds in a database file."""
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()
