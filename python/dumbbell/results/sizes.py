"""Sizes of the files of a results directory, by kind."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from dumbbell.base.errors import UserError, one_line
from dumbbell.results.number_store import NUMBERS
from dumbbell.results.sql.database import INDEX

OTHER = "other"
KINDS = {
    "packets.parquet": "packet_logs",
    "flows.parquet": "samples",
    "links.parquet": "samples",
    "stats.json": "statistics",
    "report.html": "reports",
    "report.pdf": "reports",
    INDEX: "database",
    f"{INDEX}-journal": "database",
    f"{INDEX}-wal": "database",
    f"{INDEX}-shm": "database",
}
"""Kind of a file, by its name."""


def sizes(directory: Path) -> dict[str, int]:
    """Return the bytes of all regular files below a directory, by kind: each of `KINDS`, then `OTHER`.

    Links are not followed, except the directory itself. Files that vanish meanwhile do not count: a run may be in
    progress.

    Raises:
        UserError: A directory cannot be read.
    """
    bytes_by_kind = dict.fromkeys([*KINDS.values(), OTHER], 0)
    for file in _files(directory):
        try:
            entry = file.lstat()
        except OSError as error:
            _unreadable(error)
            continue
        if stat.S_ISREG(entry.st_mode):
            is_table = file.relative_to(directory).parts[0] == NUMBERS
            bytes_by_kind["statistics" if is_table else KINDS.get(file.name, OTHER)] += entry.st_size
    return bytes_by_kind


def _files(directory: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(directory, onerror=_unreadable):
        yield from (Path(folder, name) for name in names)


def _unreadable(error: OSError) -> None:
    """Refuse an unreadable file, unless it is gone."""
    if not isinstance(error, FileNotFoundError):
        raise UserError(one_line(error)) from None
