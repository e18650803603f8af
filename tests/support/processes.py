"""Processes of this machine that a test has started."""

from pathlib import Path


def marked_by(text: str) -> list[int]:
    """Return the processes that were started with `text` in their environment."""
    processes = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if text.encode() in (place / "environ").read_bytes():
                    processes.append(int(place.name))
            except OSError:
                pass  # it has ended
    return processes
