"""Files of a run beside its numbers: packet events, and samples of flows and links."""

import re
from typing import TypeAlias

from dumbbell import core
from dumbbell.base.entry import Entry

PACKETS, FLOWS, LINKS = "packets", "flows", "links"

LOG = "log.txt"
"""Log of a run. Two runs of equal bytes have different logs."""
RUN_FILES = ("stats.json", LOG, "packets.parquet", "flows.parquet", "links.parquet")
"""All files in the directory of a run, except the qlogs of its programs."""

SAMPLES = {"flow": ("flows.parquet", "flow"), "link": ("links.parquet", "link")}
"""Files of samples, each with its column of owners, by the kind of owner."""

_QLOG = re.compile(r"flow-\d+-(?:sender|receiver)-.*\.s?qlog(?:\.(?:gz|bz2|xz|zst))?", re.IGNORECASE)

Source: TypeAlias = Entry | core.Table
"""A file of a run's directory, or a table in memory."""


def kept_files(folder: Entry) -> dict[str, Entry]:
    """Return the Parquet files in `folder` by table name, without links, which may lead to anybody's file."""
    files = {name: folder / f"{name}.parquet" for name in (PACKETS, FLOWS, LINKS)}
    return {name: file for name, file in files.items() if file.is_file()}


def kept_names(folder: Entry) -> set[str]:
    """Return the file names of `kept_files` in the directory of a run."""
    return {f"{name}.parquet" for name in kept_files(folder)}


def qlog_names(folder: Entry) -> set[str]:
    """Return the names of the qlogs in the directory of a run that its programs wrote."""
    names = {name for name in folder.names() if _QLOG.fullmatch(name)}
    return {name for name in names if (folder / name).is_file()}


def read_table(name: str, kept: Source) -> core.Table:
    """Return a kept table in memory."""
    if isinstance(kept, core.Table):
        return kept
    return core.read_packets(kept) if name == PACKETS else core.read_samples(kept)


def sampled_quantities(folder: Entry) -> dict[str, dict[str, str]]:
    """Return the names and units of the quantities in the files in `folder`."""
    quantities: dict[str, dict[str, str]] = {}
    for kind, (name, _) in SAMPLES.items():
        file = folder / name
        if file.is_file():
            quantities[kind] = {field: unit for _, field, unit, _, _ in core.samples(file)}
    return quantities
