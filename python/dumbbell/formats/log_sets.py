"""Which logs a directory holds: of each directory and kind a set, as one import takes it."""

import os
from pathlib import Path

from dumbbell.formats import capture, iperf3, qlog_import
from dumbbell.formats.pantheon_metadata import MOST_LEVELS

SUFFIXES = {"pcap": capture.SUFFIXES, "qlog": qlog_import.SUFFIXES, "iperf3": iperf3.SUFFIXES}
"""How files of each kind end, by the name of its import."""


def log_sets(source: Path) -> list[tuple[Path, str]]:
    """Return the directories at or below `source` with logs, by name, each with every kind that it has.

    Links to directories are not followed.
    """
    found = []
    for place, inside, names in os.walk(source):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        ends = {Path(name).suffix for name in names}
        found += [(Path(place), kind) for kind, suffixes in SUFFIXES.items() if ends & set(suffixes)]
        if len(Path(place).relative_to(source).parts) == MOST_LEVELS:
            inside.clear()
    return sorted(found)
