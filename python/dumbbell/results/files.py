"""Files that are either there completely or not at all."""

import contextlib
import ctypes
import errno
import os
import re
import shutil
from pathlib import Path

from dumbbell.base.errors import UserError


def write_atomically(file: Path, content: str | bytes) -> None:
    """Writes a file, texts as UTF-8: temporary name, fsync, rename, fsync of the directory."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    _remove_left_of(file)
    try:
        with temporary.open("xb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(file)  # a full disk says nothing of itself
        raise
    sync(file.parent)


_LEFT = re.compile(r"\.(.+)\.(\d+)\.tmp")


def _remove_left_of(file: Path) -> None:
    """Removes what processes that were killed as they wrote this file have left, those of the same number too."""
    with contextlib.suppress(OSError):
        for entry in file.parent.iterdir():
            left = _LEFT.fullmatch(entry.name)
            if left and left[1] == file.name and (int(left[2]) == os.getpid() or not _lives(int(left[2]))):
                entry.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def is_left(name: str) -> bool:
    """Whether a file is what a process that was killed in `write_atomically` left."""
    return _LEFT.fullmatch(name) is not None


def remove_left(directory: Path) -> None:
    """Removes what killed processes left. Nobody else may be writing there."""
    for entry in directory.iterdir():
        if is_left(entry.name):
            entry.unlink(missing_ok=True)


def require_beneath(root: Path, place: Path) -> None:
    """Refuses a place that is not below `root`, or that a link below `root` leads away from.

    Raises:
        OSError: it is not.
    """
    parts = place.relative_to(root).parts if place.is_relative_to(root) else (os.pardir,)
    current = root
    for part in parts:
        current /= part
        if part == os.pardir or current.is_symlink():
            raise OSError(errno.EXDEV, f"leads out of {root}", str(current))


def require_no_link(place: Path, else_do: str = "") -> None:
    """Refuse a symbolic link, which may lead to somebody else's file; `else_do` is another remedy.

    Raises:
        UserError: it is one.
    """
    if place.is_symlink():
        raise UserError(f"{place}: is a symbolic link: remove it{else_do}")


def sync(path: Path) -> None:
    """Makes a file or the entries of a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def publish(temporary: Path, final: Path) -> None:
    """Moves a finished directory to its place, durably; what was there is replaced."""
    publish_all([(temporary, final)])


def publish_all(pairs: list[tuple[Path, Path]]) -> None:
    """Moves finished directories of one file system to their places, durably: pairs of temporary and final.

    Many are made durable together, which costs little more than one.
    """
    if len(pairs) == 1 or not _sync_file_system(pairs[0][0]):
        for temporary, _ in pairs:
            for file in temporary.iterdir():
                sync(file)
            sync(temporary)
    changed: dict[Path, None] = {}
    for temporary, final in pairs:
        final.parent.mkdir(parents=True, exist_ok=True)
        if final.exists():
            shutil.rmtree(final)
        temporary.rename(final)
        changed |= dict.fromkeys((final.parent, final.parent.parent, final.parent.parent.parent))
    for folder in changed:
        sync(folder)


def _sync_file_system(path: Path) -> bool:
    """Makes everything on the file system of `path` durable; whether the system could."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if library.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path))
    finally:
        os.close(descriptor)
    return True
