"""Files that are written completely or not at all."""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, one_line

_TRIES, _TRY_AGAIN_S = 10, 0.02


def write_atomically(file: Path | Entry, content: str | bytes) -> None:
    """Write a file, texts as UTF-8: temporary name, fsync, rename, fsync of the directory."""
    temporary = f".{file.name}.{os.getpid()}.tmp"
    try:
        parent = file.parent if isinstance(file, Entry) else Entry.of(file.parent)
        with parent.held(os.O_RDONLY | os.O_DIRECTORY) as folder:
            _remove_left_of(file.name, folder)
            try:
                new = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
                with os.fdopen(new, "wb") as stream:
                    stream.write(content.encode() if isinstance(content, str) else content)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(temporary, file.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EXDEV:  # the temporary name means nothing to the caller; the name of a link does
            error.filename, error.filename2 = str(file), None
        raise


_TEMPORARY = re.compile(r"\.(.+)\.(\d+)\.tmp")


def write_named(file: Path, content: str | bytes) -> None:
    """Write a file that the user has named, as `write_atomically` does.

    Raises:
        UserError: The file cannot be written.
    """
    try:
        write_atomically(file, content)
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror or error}") from None


def _remove_left_of(file: str, folder: int) -> None:
    """Remove temporary files of killed writers of this file, including earlier processes of this number."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            match = _TEMPORARY.fullmatch(name)
            if match and match[1] == file and (int(match[2]) == os.getpid() or not _lives(int(match[2]))):
                os.unlink(name, dir_fd=folder)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # the process belongs to somebody else
    return True


def is_left(name: str) -> bool:
    """Return True if a file is the temporary file of a process that was killed in `write_atomically`."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_left(directory: Path) -> None:
    """Remove temporary files of killed processes; no other process may be writing."""
    for entry in directory.iterdir():
        if is_left(entry.name):
            entry.unlink(missing_ok=True)


def require_no_link(place: Path, else_do: str = "") -> None:
    """Refuse a symbolic link, which may lead to somebody else's file; `else_do` is another remedy.

    Raises:
        UserError: The place is a symbolic link.
    """
    if place.is_symlink():
        raise UserError(f"{place}: is a symbolic link: remove it{else_do}")


Stamp = tuple[int, int, int, int]


def stamp(file: Path | Entry) -> Stamp | None:
    """Return numbers that change whenever a file does, or None without a file. Links are not followed."""
    try:
        return stamp_of(file.status() if isinstance(file, Entry) else file.lstat())
    except OSError:
        return None


def stamp_of(status: os.stat_result | None) -> Stamp | None:
    """Return the stamp of a file with this status."""
    return None if status is None else (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)


def publish(temporary: Entry, final: Entry) -> None:
    """Move a finished directory to its place, durably, and replace an earlier one."""
    publish_all([(temporary, final)])


def publish_all(pairs: list[tuple[Entry, Entry]]) -> None:
    """Move finished directories of one file system to their places, durably: pairs of temporary and final.

    Many are made durable together, which costs little more than one.
    """
    if len(pairs) == 1 or not _sync_file_system(pairs[0][0]):
        for temporary, _ in pairs:
            for name in temporary.names():
                _sync(temporary / name)
            _sync(temporary)
    folders: dict[Entry, None] = {}
    for temporary, final in pairs:
        final.parent.make_folder()
        final.clear()
        temporary.move_to(final)
        folders |= dict.fromkeys((final.parent, final.parent.parent, final.parent.parent.parent))
    for folder in folders:
        _sync(folder)


def _sync(entry: Entry) -> None:
    """Make a file or the entries of a directory durable."""
    with entry.held(os.O_RDONLY | os.O_NONBLOCK) as descriptor:
        os.fsync(descriptor)


def _sync_file_system(entry: Entry) -> bool:
    """Make everything on the file system of `entry` durable; return False if the system cannot."""
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        return False
    with entry.held(os.O_RDONLY) as descriptor:
        if library.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(entry))
    return True


def locked_file(file: Path, target: Path) -> int | None:
    """Return the descriptor of a lock, held by this process; None if its holder has just removed it.

    Raises:
        UserError: Another process holds it, and writes `target`; or the lock is not a file.
    """
    try:
        # in somebody else's directory nothing is followed, emptied or waited for
        lock = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "is a symbolic link: remove it" if error.errno == errno.ELOOP else one_line(error)
        raise UserError(f"{file}: {reason}") from None
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise UserError(f"{file}: is no file: remove it")
        if not taken(lock):
            raise UserError(f"{target}: another dumbbell is writing there")
        if os.fstat(lock).st_nlink:
            return lock
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None


def taken(lock: int, clock: Clock = SYSTEM_CLOCK) -> bool:
    """Take a lock; return False if that is impossible. A process that only tests the lock holds it for microseconds."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            clock.sleep(_TRY_AGAIN_S)
        else:
            return True
    return False


@contextmanager
def only_writer(file: Path) -> Iterator[None]:
    """Hold a file for one writer, by a lock beside it; refuse a second writer at once."""
    place = file.with_name(f".{file.name}.lock")
    lock = None
    while lock is None:
        if not file.parent.is_dir():
            raise UserError(f"{file.parent}: is no folder")
        lock = locked_file(place, file)
    try:
        yield
    finally:
        place.unlink(missing_ok=True)
        os.close(lock)
