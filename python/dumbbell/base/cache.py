"""Cached files of this user. Each can be computed again if it is lost.

The files lie in `~/.cache/dumbbell/views` (below `XDG_CACHE_HOME`, or in `DUMBBELL_CACHE`). Nobody else can write in
this folder, so only this user's dumbbell wrote its content. The name of a file is a hash of its sources: a changed
source gives another name.
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
"""Maximum size of all files together, bytes. Above it, the least recently used files are removed."""


def cached(kind: str, *made_of: object) -> Entry | None:
    """Return the place of a cached file. Its name is a hash of `made_of`; None if no file can be kept."""
    folder = _folder(_place())
    if folder is None:
        return None
    code = f"{__version__} {core.commit()}"
    name = hashlib.sha256(repr((code, *map(str, made_of))).encode()).hexdigest()[:40]
    return folder / f"{name}.{kind}"


def _place() -> Path | None:
    """Return the folder of the cache; None if this user has no home."""
    chosen_folder = Path(os.environ.get("DUMBBELL_CACHE", ""))
    if chosen_folder.is_absolute():
        return chosen_folder
    try:
        return user_folder("XDG_CACHE_HOME", ".cache") / "views"
    except RuntimeError:
        return None


@cache
def _folder(place: Path | None) -> Entry | None:
    """Create and trim the folder of the cache; None if it cannot be created, or if somebody else can write in it."""
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
    """Remove the least recently used files until the rest has at most `most_bytes` bytes."""
    files = []
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                files.append((max(about.st_atime_ns, about.st_mtime_ns), about.st_size, entry.name))
    total = 0
    for _, size, name in sorted(files, reverse=True):
        total += size
        if total > most_bytes:
            with suppress(OSError):
                (place / name).unlink()
