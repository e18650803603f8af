"""Temporary folders: they end with the process that made them, and what a killed process left ends with the next one.

A folder is called `dumbbell-NAME-PID-RANDOM`. The process that made it holds a lock on the folder itself. The kernel
lets the lock go when that process ends, however it ends.
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
from dumbbell.base.interrupts import Undisturbed

_OURS = re.compile(r"dumbbell-[a-z]+-\d+-[a-z0-9_]{8}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_TRIES = 100


class Scratch:
    """A temporary folder of this process. It ends with `close`, with the object, or with the `with` block.

        with Scratch("check") as folder:  # a `Path`

    The first one of a process removes what killed processes of this user have left.
    """

    def __init__(self, name: str) -> None:
        """Make the folder; `name` (small letters) says what it is for.

        Raises:
            UserError: no folder can be made, for example on a full disk.
        """
        try:
            _remove_left_once(tempfile.gettempdir())
            self.path, held = _made(f"dumbbell-{name}-{os.getpid()}-")
        except OSError as error:
            raise UserError(f"there is no place for a temporary folder: {one_line(error)}") from None
        self._end = weakref.finalize(self, _remove, self.path, held)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        self._end()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_left(place: Path) -> list[Path]:
    """Remove folders below `place` that killed processes of this user have left; return their names.

    No link is followed. A folder stays if somebody holds it, or if it may be opened by others than this user.
    """
    removed = []
    for name in _names(place):
        file = place / name
        try:
            held = os.open(file, _FOLDER)
        except OSError:
            continue  # a link, somebody else's, or gone
        try:
            about = os.fstat(held)
            is_ours = about.st_uid == os.geteuid() and stat.S_IMODE(about.st_mode) == stat.S_IRWXU
            if is_ours and _lock(held) and _is(file, about):
                shutil.rmtree(file, ignore_errors=True)
                removed.append(file)
        finally:
            os.close(held)
    return removed


@cache
def _remove_left_once(place: str) -> None:
    remove_left(Path(place))


def _names(place: Path) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(place) as found:
        return [each.name for each in found if _OURS.fullmatch(each.name)]
    return []


def _made(prefix: str) -> tuple[Path, int]:
    """Return a new folder, and the descriptor that holds it.

    Another process may take it for one that was left, before it is held: then another one is made.
    """
    for _ in range(_MOST_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=prefix))  # noqa: TID251 (this is the one place)
        with contextlib.suppress(FileNotFoundError):
            held = os.open(folder, _FOLDER)
            if _lock(held, where_there_are_none=True) and _is(folder, os.fstat(held)):
                return folder, held
            os.close(held)
    raise FileNotFoundError(f"{tempfile.gettempdir()}: folders are removed as they are made")


def _lock(folder: int, where_there_are_none: bool = False) -> bool:
    """Take the lock on an open folder; return whether it was free. Some file systems of a network have no locks."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return where_there_are_none
    return True


def _is(folder: Path, about: os.stat_result) -> bool:
    """Return whether the folder of this name is still the one that was opened."""
    try:
        return os.path.samestat(folder.lstat(), about)
    except OSError:
        return False


def _remove(folder: Path, held: int) -> None:
    with Undisturbed():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)
