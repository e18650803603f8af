"""Integrity of the files of a run: comparison with the sizes and digests in its statistics."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.input_files import digest
from dumbbell.results.series.run_files import PACKETS, kept_names, qlog_names

if TYPE_CHECKING:
    from dumbbell.contract.run import KeptFile, RunStatistics

FILES = "files"
"""Key of statistics with the files by name: `bytes` and `sha256`."""

_MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""


def recorded(folder: Entry) -> dict[str, KeptFile]:
    """Return size and digest of the files that a run kept in `folder`."""
    return facts_of(folder, sorted(kept_names(folder) | qlog_names(folder)))


def facts_of(folder: Entry, names: Iterable[str]) -> dict[str, KeptFile]:
    """Return size and digest of files in a folder."""
    return {name: {"bytes": _size(folder / name), "sha256": digest(folder / name)} for name in names}


def damage(folder: Entry, statistics: RunStatistics, log: str) -> str | None:
    """Return the first of the `faults` of a run; None if its files are unchanged."""
    return next(faults(folder, statistics, log), None)


def faults(folder: Entry, statistics: RunStatistics, log: str) -> Iterator[str]:
    """Yield a line for each fault in the files of a run whose packet log is `log`.

    If the results recorded nothing about their files, these must exist and end like such files.
    """
    records = statistics.get(FILES)
    expected = set() if log == "none" else {f"{PACKETS}.parquet"}
    if isinstance(records, dict):
        for name in sorted((kept_names(folder) | qlog_names(folder) | expected) - records.keys()):
            yield f"{name} is not among what was recorded"
    else:
        records = dict.fromkeys(sorted(expected | kept_names(folder)))
    for name, facts in records.items():
        if (fault := fault_of(folder / name, facts)) is not None:
            yield fault


def fault_of(file: Entry, facts: object) -> str | None:
    """Return the fault of a file with the recorded `facts`; None if it is unchanged."""
    try:
        return _fault(file, facts)
    except (OSError, UserError) as error:
        return one_line(error)


def size_fault_of(file: Entry, facts: object) -> str | None:
    """Return the fault of a file with the recorded `facts` that its size shows; its content is not read."""
    status = file.status()
    if status is None:
        return f"{file.name} is missing"
    if not stat.S_ISREG(status.st_mode):
        return f"{file.name} is {'a symbolic link' if stat.S_ISLNK(status.st_mode) else 'no regular file'}"
    if not isinstance(facts, dict):
        return None if _ends(file) else f"{file.name} is cut off"
    size = status.st_size
    if size != facts.get("bytes"):
        return f"{file.name} has {size} bytes, not {facts.get('bytes')}"
    return None


def _fault(file: Entry, facts: object) -> str | None:
    if (fault := size_fault_of(file, facts)) is not None or not isinstance(facts, dict):
        return fault
    return None if digest(file) == facts.get("sha256") else f"{file.name} is not what was recorded: its SHA-256 differs"


def _size(file: Entry) -> int:
    with file.open_regular() as stream:
        return os.fstat(stream.fileno()).st_size


def _ends(file: Entry) -> bool:
    with file.open_regular() as stream:
        stream.seek(max(os.fstat(stream.fileno()).st_size - len(_MAGIC), 0))
        return stream.read() == _MAGIC
