"""What runs keep beside their numbers: packet events, and samples of flows and links."""

from pathlib import Path

from dumbbell import _core

PACKETS, FLOWS, LINKS = "packets", "flows", "links"

Source = Path | _core.Table
"""A file of a run's directory, or a table in memory."""


def kept_files(folder: Path) -> dict[str, Source]:
    """Those that are in the directory of a run, by name."""
    files = {name: folder / f"{name}.parquet" for name in (PACKETS, FLOWS, LINKS)}
    return {name: file for name, file in files.items() if file.is_file()}
