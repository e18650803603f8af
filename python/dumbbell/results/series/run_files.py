"""What runs keep beside their numbers: packet events, and samples of flows and links."""

from dumbbell import _core
from dumbbell.base.entry import Entry

PACKETS, FLOWS, LINKS = "packets", "flows", "links"

LOG = "log.txt"
"""The log of a run. Two runs of the same bytes have different logs."""
RUN_FILES = ("stats.json", LOG, "packets.parquet", "flows.parquet", "links.parquet")
"""All that is in the directory of a run."""

Source = Entry | _core.Table
"""A file of a run's directory, or a table in memory."""


def kept_files(folder: Entry) -> dict[str, Entry]:
    """Return those that are in the directory of a run, by name. A link is none: it may lead to anybody's file."""
    files = {name: folder / f"{name}.parquet" for name in (PACKETS, FLOWS, LINKS)}
    return {name: file for name, file in files.items() if file.is_file()}


def kept_names(folder: Entry) -> set[str]:
    """Return the names of these files in the directory of a run."""
    return {f"{name}.parquet" for name in kept_files(folder)}


def read_table(name: str, kept: Source) -> _core.Table:
    """What is kept under a name, in memory."""
    if isinstance(kept, _core.Table):
        return kept
    return _core.read_packets(kept) if name == PACKETS else _core.read_samples(kept)
