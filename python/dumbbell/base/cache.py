"""Files of this user that spare work. What is lost of them is made anew.

They lie in `~/.cache/dumbbell/views` (below `XDG_CACHE_HOME`, or in `DUMBBELL_CACHE`), in a folder that nobody else can
write: this user's own dumbbell wrote what is read there. The names say what a file was made of: a changed source has
another name.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.base.user_folders import user_folder
from dumbbell.base.version import __version__

MOST_BYTES = 4 * 2**30
"""Size of all files together; beyond that, those that were not used for longest are removed."""


def cached(kind: str, *made_of: object) -> Entry | None:
    """Return the place of a file of a `kind`, named by what it is made of; None where nothing can be kept."""
    folder = _folder(_place())
    if folder is None:
        return None
    code = f"{__version__} {core.commit()}"
    name = hashlib.sha256(repr((code, *map(str, made_of))).encode()).hexdigest()[:40]
    return folder / f"{name}.{kind}"


def _place() -> Path | None:
    """Return the folder of the cache; None where this user has no home."""
    given = Path(os.environ.get("DUMBBELL_CACHE", ""))
    if given.is_absolute():
        return given
    try:
        return user_folder("XDG_CACHE_HOME", ".cache") / "views"
    except RuntimeError:
        return None


@cache
def _folder(place: Path | None) -> Entry | None:
    """Return the folder, made and cleaned; None where it cannot be made, or somebody else can write it."""
    if place is None:
        return None
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        about = place.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
        return None
    _trim(place)
    return Entry.of(place)


def _trim(place: Path, most_bytes: int = MOST_BYTES) -> None:
    """Remove the files that were not used for longest, until the others have at most so many bytes."""
    found = []
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                found.append((max(about.st_atime_ns, about.st_mtime_ns), about.st_size, entry.name))
    total = 0
    for _, size, name in sorted(found, reverse=True):
        total += size
        if total > most_bytes:
            with suppress(OSError):
                (place / name).unlink()
