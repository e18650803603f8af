"""Temporary folders. They end with their process; the next process removes those of killed processes.

A folder is called `dumbbell-NAME-PID-RANDOM`. Its process holds a lock on the folder itself. The kernel releases the
lock when that process ends, however it ends.
"""

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import weakref
from functools import cache
from pathlib import Path

from dumbbell.base.errors import UserError, one_line
from dumbbell.base.interrupts import Uninterrupted

_OURS = re.compile(r"dumbbell-[a-z]+-\d+-[a-z0-9_]{8}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TRIES = 100


class Scratch:
    """A temporary folder of this process. It is removed by `close`, with the object, or after the `with` block.

        with Scratch("check") as folder:  # a `Path`

    The first object of a process also removes the folders that killed processes of this user have left.
    """

    def __init__(self, name: str) -> None:
        """Make the folder; `name` (small letters) is its purpose.

        Raises:
            UserError: If no folder can be made, for example on a full disk.
        """
        try:
            _remove_left_once(tempfile.gettempdir())
            self.path, descriptor = _made(f"dumbbell-{name}-{os.getpid()}-")
        except OSError as error:
            raise UserError(f"there is no place for a temporary folder: {one_line(error)}") from None
        self._end = weakref.finalize(self, _remove, self.path, descriptor)

    def close(self) -> None:
        """Remove the folder with its content."""
        self._end()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_left(place: Path) -> list[Path]:
    """Remove folders below `place` that killed processes of this user have left; return their paths.

    No link is followed. A folder stays if a process holds its lock, or if others than this user may open it.
    """
    removed_folders = []
    for name in _names(place):
        file = place / name
        try:
            descriptor = os.open(file, _FOLDER)
        except OSError:
            continue  # a link, somebody else's, or gone
        try:
            about = os.fstat(descriptor)
            is_ours = about.st_uid == os.geteuid() and stat.S_IMODE(about.st_mode) == stat.S_IRWXU
            if is_ours and _lock(descriptor) and _is(file, about):
                shutil.rmtree(file, ignore_errors=True)
                removed_folders.append(file)
        finally:
            os.close(descriptor)
    return removed_folders


@cache
def _remove_left_once(place: str) -> None:
    remove_left(Path(place))


def _names(place: Path) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        return [entry.name for entry in entries if _OURS.fullmatch(entry.name)]
    return []


def _made(prefix: str) -> tuple[Path, int]:
    """Return a new folder, and the descriptor that holds its lock.

    Another process may remove the folder before it is locked: then another one is made.
    """
    for _ in range(_MOST_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=prefix))  # noqa: TID251 (this is the one place)
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, _FOLDER)
            if _lock(descriptor, where_there_are_none=True) and _is(folder, os.fstat(descriptor)):
                return folder, descriptor
            os.close(descriptor)
    raise FileNotFoundError(f"{tempfile.gettempdir()}: folders are removed as they are made")


def _lock(folder: int, where_there_are_none: bool = False) -> bool:
    """Lock an open folder; return True if it was free. `where_there_are_none`: result on file systems without locks."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return where_there_are_none
    return True


def _is(folder: Path, about: os.stat_result) -> bool:
    """Return True if the folder of this name is still the opened one."""
    try:
        return os.path.samestat(folder.lstat(), about)
    except OSError:
        return False


def _remove(folder: Path, descriptor: int) -> None:
    with Uninterrupted():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
