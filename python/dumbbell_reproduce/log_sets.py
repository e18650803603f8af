"""Which logs a directory holds: of each directory and kind a set, as one import takes it."""

import os
from pathlib import Path

from dumbbell.formats.contents import kind_of, suffix_of
from dumbbell.formats.importers import iperf3, pcap, qlog
from dumbbell.formats.pantheon_metadata import MOST_LEVELS

SUFFIXES = {"pcap": pcap.SUFFIXES, "qlog": qlog.SUFFIXES, "iperf3": iperf3.SUFFIXES}
"""How files of each kind end, by the name of its import."""
_IMPORTS = {"capture": "pcap", "qlog": "qlog", "iperf3": "iperf3"}
"""The import of each kind that content tells."""


def log_sets(source: Path) -> list[tuple[Path, str]]:
    """Return the directories at or below `source` with logs, by name, each with every kind that it has.

    Links to directories are not followed.
    """
    found = []
    for place, inside, names in os.walk(source):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        kinds = {kind for name in names if not name.startswith(".") for kind in _imports(Path(place, name))}
        found += [(Path(place), kind) for kind in SUFFIXES if kind in kinds]
        if len(Path(place).relative_to(source).parts) == MOST_LEVELS:
            inside.clear()
    return sorted(found)


def _imports(file: Path) -> list[str]:
    """Return the imports that take a file: by its content, else by its suffix."""
    told = kind_of(file) if file.is_file() else None
    if told is not None:
        return [_IMPORTS[told]] if told in _IMPORTS else []
    return [kind for kind, suffixes in SUFFIXES.items() if suffix_of(file) in suffixes]
