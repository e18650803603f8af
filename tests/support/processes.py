"""Which processes of this machine a test has started."""

from pathlib import Path


def marked_by(text: str) -> list[int]:
    """Return the processes that were started with `text` in their environment."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if text.encode() in (place / "environ").read_bytes():
                    found.append(int(place.name))
            except OSError:
                pass  # it has ended
    return found
