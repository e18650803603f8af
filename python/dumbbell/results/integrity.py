"""Whether the files of a run are as they were recorded: their sizes and digests are in its statistics."""

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
"""The key of statistics under which they are, by name of the file: `bytes` and `sha256`."""

_MAGIC = b"PAR1"
"""How a Parquet file begins and ends."""


def recorded(folder: Entry) -> dict[str, KeptFile]:
    """What is to be known of the files that a run kept in `folder`."""
    return facts_of(folder, sorted(kept_names(folder) | qlog_names(folder)))


def facts_of(folder: Entry, names: Iterable[str]) -> dict[str, KeptFile]:
    """Return what is to be known of files in a folder."""
    return {name: {"bytes": _size(folder / name), "sha256": digest(folder / name)} for name in names}


def damage(folder: Entry, statistics: RunStatistics, log: str) -> str | None:
    """The first of the `faults` of a run; nothing if its files are as they were recorded."""
    return next(faults(folder, statistics, log), None)


def faults(folder: Entry, statistics: RunStatistics, log: str) -> Iterator[str]:
    """Yield what is wrong with the files of a run whose packet log is `log`, a line for each file.

    Of results that recorded nothing about their files these have to be there and to end like such files.
    """
    found = statistics.get(FILES)
    expected = set() if log == "none" else {f"{PACKETS}.parquet"}
    if isinstance(found, dict):
        for name in sorted((kept_names(folder) | qlog_names(folder) | expected) - found.keys()):
            yield f"{name} is not among what was recorded"
    else:
        found = dict.fromkeys(sorted(expected | kept_names(folder)))
    for name, facts in found.items():
        if (fault := fault_of(folder / name, facts)) is not None:
            yield fault


def fault_of(file: Entry, facts: object) -> str | None:
    """Return what is wrong with a file of which `facts` were recorded; None if it is as it was."""
    try:
        return _fault(file, facts)
    except (OSError, UserError) as error:
        return one_line(error)


def size_fault_of(file: Entry, facts: object) -> str | None:
    """Return what is wrong with a file of which `facts` were recorded, as its size tells; its content is not read."""
    found = file.status()
    if found is None:
        return f"{file.name} is missing"
    if not stat.S_ISREG(found.st_mode):
        return f"{file.name} is {'a symbolic link' if stat.S_ISLNK(found.st_mode) else 'no regular file'}"
    if not isinstance(facts, dict):
        return None if _ends(file) else f"{file.name} is cut off"
    size = found.st_size
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
