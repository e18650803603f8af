"""The logs in a directory: one set for each directory and kind, since an import takes one set."""

import os
from pathlib import Path

from dumbbell.formats.contents import kind_of, suffix_of
from dumbbell.formats.importers import iperf3, pcap, qlog
from dumbbell.formats.pantheon_metadata import MOST_LEVELS

SUFFIXES = {"pcap": pcap.SUFFIXES, "qlog": qlog.SUFFIXES, "iperf3": iperf3.SUFFIXES}
"""Suffixes of the files of each kind, by the name of its import."""
_IMPORTS = {"capture": "pcap", "qlog": "qlog", "iperf3": "iperf3"}
"""Import for each kind that is recognized by content."""


def log_sets(source: Path) -> list[tuple[Path, str]]:
    """Return the directories at or below `source` with logs, sorted, once for each kind of log in the directory.

    Links to directories are not followed.
    """
    sets = []
    for place, subdirectories, names in os.walk(source):
        subdirectories[:] = sorted(name for name in subdirectories if not name.startswith("."))
        kinds = {kind for name in names if not name.startswith(".") for kind in _imports(Path(place, name))}
        sets += [(Path(place), kind) for kind in SUFFIXES if kind in kinds]
        if len(Path(place).relative_to(source).parts) == MOST_LEVELS:
            subdirectories.clear()
    return sorted(sets)


def _imports(file: Path) -> list[str]:
    """Return the imports that take a file: by its content, else by its suffix."""
    content_kind = kind_of(file) if file.is_file() else None
    if content_kind is not None:
        return [_IMPORTS[content_kind]] if content_kind in _IMPORTS else []
    return [kind for kind, suffixes in SUFFIXES.items() if suffix_of(file) in suffixes]
