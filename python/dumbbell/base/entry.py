"""Files and folders below a directory that somebody else may have filled. No symbolic link below it is followed."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path

from dumbbell.base.errors import UserError

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
}
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for reading a file. Without O_NONBLOCK, opening a named pipe waits for a writer."""
_WALK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """A file or folder at or below `root`. It need not exist.

    It is opened folder by folder from `root`, and no part of the way may be a link. So nobody who can write below
    `root` can redirect an access, even at this moment. The class is deliberately no path: other functions would follow
    links.
    """

    root: Path
    way: tuple[str, ...] = ()
    """Names of the folders below the root, and of the entry itself."""

    @classmethod
    def of(cls, root: Path) -> Entry:
        """Return the entry of the directory itself; `root` may be a link."""
        return cls(root)

    @classmethod
    def at(cls, root: Path, path: Path) -> Entry:
        """Return the entry of a path. A path that does not begin with `root` is refused when it is used."""
        return cls(root) / (path.relative_to(root) if path.is_relative_to(root) else path.absolute())

    def __truediv__(self, name: str | Path) -> Entry:
        parts = tuple(part for part in str(name).split("/") if part not in ("", "."))
        return Entry(self.root, (*self.way, "/", *parts) if str(name).startswith("/") else self.way + parts)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def path(self) -> Path:
        """Path of the entry, for people."""
        return Path(self.root, *self.way)

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.way[-1] if self.way else self.root.name

    @property
    def parent(self) -> Entry:
        """Folder that contains the entry."""
        return Entry(self.root, self.way[:-1])

    def descriptor(self, flags: int) -> int:
        """Return a descriptor, opened with `flags`. The caller closes it.

        Raises:
            OSError: If the entry cannot be opened, or a part of the way is a link.
        """
        parts = self._parts()
        current = os.open(self.root, flags | os.O_CLOEXEC if not parts else _WALK & ~os.O_NOFOLLOW)
        for number, part in enumerate(parts, 1):
            part_flags = _WALK if number < len(parts) else flags | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                inner = os.open(part, part_flags, 0o666, dir_fd=current)
            except OSError as error:
                at = str(Entry(self.root, parts[:number]))
                if _is_link(part, current):
                    raise OSError(errno.EXDEV, f"leads out of {self.root}", at) from None
                error.filename = at
                raise
            finally:
                os.close(current)
            current = inner
        return current

    def open_regular(self) -> io.BufferedReader:
        """Return the file, open for reading.

        Raises:
            UserError: If the entry is no regular file.
            OSError: If the entry cannot be opened, or a part of the way is a link.
        """
        return regular(self.descriptor(_READ), self)

    def create(self) -> io.BufferedWriter:
        """Return the file, open for writing. An existing file is emptied.

        Raises:
            OSError: If the file cannot be created, or a part of the way is a link.
        """
        return os.fdopen(self.descriptor(os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK), "wb")

    def status(self) -> os.stat_result | None:
        """Return the status of the entry, or of a link itself; None if it does not exist, or a link is on the way."""
        try:
            if not self._parts():
                return self.root.stat()
            with self.parent.held() as folder:
                return os.stat(self.name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None

    def is_file(self) -> bool:
        """Return True for a regular file, False for a link."""
        status = self.status()
        return status is not None and stat.S_ISREG(status.st_mode)

    def is_folder(self) -> bool:
        """Return True for a folder, False for a link."""
        status = self.status()
        return status is not None and stat.S_ISDIR(status.st_mode)

    def names(self, max_names: int | None = None) -> list[str]:
        """Return the names in the folder, sorted, at most `max_names`; empty if the folder cannot be read."""
        with suppress(OSError), self.held(os.O_RDONLY | os.O_DIRECTORY) as folder, os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, max_names))
        return []

    def make_folder(self) -> None:
        """Make the folder and all missing folders above it.

        Raises:
            OSError: If the folder cannot be made, or a part of the way is no folder.
        """
        current = Entry.of(self.root)
        for part in self._parts():
            with current.held() as folder, suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
            current /= part
        with current.held():
            pass

    def remove(self) -> None:
        """Remove the file, or the link.

        Raises:
            OSError: If the file does not exist or cannot be removed.
        """
        with self.parent.held() as folder:
            os.unlink(self.name, dir_fd=folder)

    def clear(self, ignore_errors: bool = False) -> None:
        """Remove the entry: a file, a link itself, or a folder with its whole content.

        Raises:
            OSError: If the entry cannot be removed or a link is on the way, unless `ignore_errors`.
        """
        with suppress(OSError if ignore_errors else FileNotFoundError), self.parent.held() as folder:
            if stat.S_ISDIR(os.stat(self.name, dir_fd=folder, follow_symlinks=False).st_mode):
                shutil.rmtree(self.name, ignore_errors, dir_fd=folder)
            else:
                os.unlink(self.name, dir_fd=folder)

    def move_to(self, place: Entry) -> None:
        """Move the entry to another place below its root.

        Raises:
            OSError: If the entry cannot be moved, or a part of a way is a link.
        """
        with self.parent.held() as folder, place.parent.held() as other:
            os.rename(self.name, place.name, src_dir_fd=folder, dst_dir_fd=other)

    def touch(self) -> None:
        """Set the modification time of the entry to now.

        Raises:
            OSError: If the entry does not exist, or belongs to somebody else.
        """
        with self.parent.held() as folder:
            os.utime(self.name, dir_fd=folder, follow_symlinks=False)

    @contextmanager
    def held(self, flags: int = os.O_PATH | os.O_DIRECTORY) -> Iterator[int]:
        """Open the entry for the duration of the context; yield its descriptor. By default `flags` fit a folder.

        Raises:
            OSError: If the entry cannot be opened, or a part of the way is a link.
        """
        descriptor = self.descriptor(flags)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def require_beneath(self) -> None:
        """Raise an error if a part of the way is a symbolic link. The entry need not exist.

        Raises:
            OSError: If a part of the way is a link; the error names the link.
        """
        current = Entry.of(self.root)
        for part in self._parts():
            current /= part
            status = current.status()
            if status is not None and stat.S_ISLNK(status.st_mode):
                raise OSError(errno.EXDEV, f"leads out of {self.root}", str(current))

    def _parts(self) -> tuple[str, ...]:
        """Return the names from the root on.

        Raises:
            OSError: If the entry is not below its root.
        """
        if os.pardir in self.way or "/" in self.way:
            raise OSError(errno.EXDEV, f"leads out of {self.root}", str(self.path))
        return self.way


def statuses(entries: Iterable[Entry]) -> Iterator[os.stat_result | None]:
    """Yield the `status` of each entry of one directory. Folders shared by consecutive entries are opened once."""
    open_folders: list[tuple[str, int]] = []
    try:
        for entry in entries:
            folders = ("", *entry.way[:-1])
            shared_count = sum(
                1 for _ in takewhile(lambda pair: pair[0] == pair[1][0], zip(folders, open_folders, strict=False))
            )
            while len(open_folders) > shared_count:
                os.close(open_folders.pop()[1])
            if not entry.way:
                yield entry.status()
                continue
            try:
                parts = ("", *entry._parts())
                for name in parts[len(open_folders) : -1]:
                    flags = _WALK if name else _WALK & ~os.O_NOFOLLOW
                    open_folders.append(
                        (name, os.open(name or entry.root, flags, dir_fd=open_folders[-1][1] if open_folders else None))
                    )
                yield os.stat(parts[-1], dir_fd=open_folders[-1][1], follow_symlinks=False)
            except OSError:
                yield None
    finally:
        for _, descriptor in open_folders:
            os.close(descriptor)


def regular(descriptor: int, name: Path | Entry) -> io.BufferedReader:
    """Return the file of a descriptor, open for reading. Closing the file closes the descriptor.

    Raises:
        UserError: If the descriptor is not that of a regular file.
    """
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise UserError(f"{name}: is {_KINDS.get(kind, 'no file')}: allowed is a regular file")
    return os.fdopen(descriptor, "rb")


def open_regular(file: Path | Entry) -> io.BufferedReader:
    """Return a file, open for reading.

    Raises:
        UserError: If the file is no regular file.
        OSError: If the file cannot be opened.
    """
    return file.open_regular() if isinstance(file, Entry) else regular(os.open(file, _READ), file)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
