"""What runs keep beside their numbers: packet events, and samples of flows and links."""

import re
from typing import TypeAlias

from dumbbell import core
from dumbbell.base.entry import Entry

PACKETS, FLOWS, LINKS = "packets", "flows", "links"

LOG = "log.txt"
"""The log of a run. Two runs of the same bytes have different logs."""
RUN_FILES = ("stats.json", LOG, "packets.parquet", "flows.parquet", "links.parquet")
"""All that is in the directory of a run, but for the qlogs of its programs."""

SAMPLES = {"flow": ("flows.parquet", "flow"), "link": ("links.parquet", "link")}
"""Files of samples, each with its column of owners, by the kind of owner."""

_QLOG = re.compile(r"flow-\d+-(?:sender|receiver)-.*\.s?qlog(?:\.(?:gz|bz2|xz|zst))?", re.IGNORECASE)

Source: TypeAlias = Entry | core.Table
"""A file of a run's directory, or a table in memory."""


def kept_files(folder: Entry) -> dict[str, Entry]:
    """Return those that are in the directory of a run, by name. A link is none: it may lead to anybody's file."""
    files = {name: folder / f"{name}.parquet" for name in (PACKETS, FLOWS, LINKS)}
    return {name: file for name, file in files.items() if file.is_file()}


def kept_names(folder: Entry) -> set[str]:
    """Return the names of these files in the directory of a run."""
    return {f"{name}.parquet" for name in kept_files(folder)}


def qlog_names(folder: Entry) -> set[str]:
    """Return the names of the qlogs in the directory of a run that its programs wrote."""
    names = {name for name in folder.names() if _QLOG.fullmatch(name)}
    return {name for name in names if (folder / name).is_file()}


def read_table(name: str, kept: Source) -> core.Table:
    """What is kept under a name, in memory."""
    if isinstance(kept, core.Table):
        return kept
    return core.read_packets(kept) if name == PACKETS else core.read_samples(kept)


def sampled_quantities(folder: Entry) -> dict[str, dict[str, str]]:
    """Return the names and units of the quantities that the files in `folder` hold."""
    found: dict[str, dict[str, str]] = {}
    for kind, (name, _) in SAMPLES.items():
        file = folder / name
        if file.is_file():
            found[kind] = {field: unit for _, field, unit, _, _ in core.samples(file)}
    return found
