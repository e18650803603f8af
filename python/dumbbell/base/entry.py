"""Files and folders below a directory that somebody else may have filled: no link below it is followed."""

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
"""Flags of a file to be read: without O_NONBLOCK, to open a named pipe waits for somebody who writes."""
_WALK = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Entry:
    """A file or folder at or below `root`, which may be missing.

    It is opened folder by folder from `root`, and nothing on the way may be a link: who can write below `root` leads
    nobody out of it, even in this moment. It is no path for other functions on purpose: they would follow links.
    """

    root: Path
    way: tuple[str, ...] = ()
    """Names of the folders from the root on, and of the entry itself."""

    @classmethod
    def of(cls, root: Path) -> Entry:
        """Return the directory itself; a link may lead to it."""
        return cls(root)

    @classmethod
    def at(cls, root: Path, path: Path) -> Entry:
        """Return what a path names; one that does not begin with `root` is refused where it is used."""
        return cls(root) / (path.relative_to(root) if path.is_relative_to(root) else path.absolute())

    def __truediv__(self, name: str | Path) -> Entry:
        parts = tuple(part for part in str(name).split("/") if part not in ("", "."))
        return Entry(self.root, (*self.way, "/", *parts) if str(name).startswith("/") else self.way + parts)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def path(self) -> Path:
        """The path that people know."""
        return Path(self.root, *self.way)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.way[-1] if self.way else self.root.name

    @property
    def parent(self) -> Entry:
        """The folder that it is in."""
        return Entry(self.root, self.way[:-1])

    def descriptor(self, flags: int) -> int:
        """Return a descriptor, opened with `flags`; the caller closes it.

        Raises:
            OSError: it cannot be opened, or something on the way is a link.
        """
        parts = self._parts()
        current = os.open(self.root, flags | os.O_CLOEXEC if not parts else _WALK & ~os.O_NOFOLLOW)
        for number, part in enumerate(parts, 1):
            how = _WALK if number < len(parts) else flags | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                inner = os.open(part, how, 0o666, dir_fd=current)
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
            UserError: it is something else than a regular file.
            OSError: it cannot be opened, or something on the way is a link.
        """
        return regular(self.descriptor(_READ), self)

    def create(self) -> io.BufferedWriter:
        """Return a new file, open for writing; one that is there is emptied.

        Raises:
            OSError: it cannot be made, or something on the way is a link.
        """
        return os.fdopen(self.descriptor(os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK), "wb")

    def status(self) -> os.stat_result | None:
        """Return what the system knows of it, of a link itself; None where there is nothing, or a link on the way."""
        try:
            if not self._parts():
                return self.root.stat()
            with self.parent.held() as folder:
                return os.stat(self.name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None

    def is_file(self) -> bool:
        """Return whether it is a regular file; a link is none."""
        found = self.status()
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_folder(self) -> bool:
        """Return whether it is a folder; a link is none."""
        found = self.status()
        return found is not None and stat.S_ISDIR(found.st_mode)

    def names(self, most: int | None = None) -> list[str]:
        """Return the names in the folder, in order, but not more than `most`; none where it cannot be read."""
        with suppress(OSError), self.held(os.O_RDONLY | os.O_DIRECTORY) as folder, os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, most))
        return []

    def make_folder(self) -> None:
        """Make the folder and what is missing on the way to it.

        Raises:
            OSError: it cannot be made, or something on the way is no folder.
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
            OSError: there is none, or it cannot be removed.
        """
        with self.parent.held() as folder:
            os.unlink(self.name, dir_fd=folder)

    def clear(self, ignore_errors: bool = False) -> None:
        """Remove whatever is there: a folder with all that is in it, a file, or a link itself.

        Raises:
            OSError: it cannot be removed, or something on the way is a link; not with `ignore_errors`.
        """
        with suppress(OSError if ignore_errors else FileNotFoundError), self.parent.held() as folder:
            if stat.S_ISDIR(os.stat(self.name, dir_fd=folder, follow_symlinks=False).st_mode):
                shutil.rmtree(self.name, ignore_errors, dir_fd=folder)
            else:
                os.unlink(self.name, dir_fd=folder)

    def move_to(self, place: Entry) -> None:
        """Give it another place below its root.

        Raises:
            OSError: it cannot be moved, or something on one of the ways is a link.
        """
        with self.parent.held() as folder, place.parent.held() as other:
            os.rename(self.name, place.name, src_dir_fd=folder, dst_dir_fd=other)

    def touch(self) -> None:
        """Set the time at which it was changed to now.

        Raises:
            OSError: there is none, or it is somebody else's.
        """
        with self.parent.held() as folder:
            os.utime(self.name, dir_fd=folder, follow_symlinks=False)

    @contextmanager
    def held(self, flags: int = os.O_PATH | os.O_DIRECTORY) -> Iterator[int]:
        """Hold a descriptor, opened with `flags`; by default that of a folder, for what is in it.

        Raises:
            OSError: it cannot be opened, or something on the way is a link.
        """
        descriptor = self.descriptor(flags)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def require_beneath(self) -> None:
        """Refuse an entry that a link below the root leads away from; it need not be there.

        Raises:
            OSError: names the link.
        """
        current = Entry.of(self.root)
        for part in self._parts():
            current /= part
            found = current.status()
            if found is not None and stat.S_ISLNK(found.st_mode):
                raise OSError(errno.EXDEV, f"leads out of {self.root}", str(current))

    def _parts(self) -> tuple[str, ...]:
        """Return the names from the root on.

        Raises:
            OSError: it is not below its root.
        """
        if os.pardir in self.way or "/" in self.way:
            raise OSError(errno.EXDEV, f"leads out of {self.root}", str(self.path))
        return self.way


def statuses(entries: Iterable[Entry]) -> Iterator[os.stat_result | None]:
    """Yield the `status` of each entry of one directory; folders that entries in a row share are opened once."""
    held: list[tuple[str, int]] = []
    try:
        for entry in entries:
            wanted = ("", *entry.way[:-1])
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1][0], zip(wanted, held, strict=False)))
            while len(held) > shared:
                os.close(held.pop()[1])
            if not entry.way:
                yield entry.status()
                continue
            try:
                parts = ("", *entry._parts())
                for name in parts[len(held) : -1]:
                    flags = _WALK if name else _WALK & ~os.O_NOFOLLOW
                    held.append((name, os.open(name or entry.root, flags, dir_fd=held[-1][1] if held else None)))
                yield os.stat(parts[-1], dir_fd=held[-1][1], follow_symlinks=False)
            except OSError:
                yield None
    finally:
        for _, descriptor in held:
            os.close(descriptor)


def regular(descriptor: int, name: Path | Entry) -> io.BufferedReader:
    """Return the file of a descriptor, open for reading; the descriptor is closed with it.

    Raises:
        UserError: it is something else than a regular file.
    """
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise UserError(f"{name}: is {_KINDS.get(kind, 'no file')}: allowed is a regular file")
    return os.fdopen(descriptor, "rb")


def open_regular(file: Path | Entry) -> io.BufferedReader:
    """Return a file, open for reading.

    Raises:
        UserError: it is something else than a regular file.
        OSError: it cannot be opened.
    """
    return file.open_regular() if isinstance(file, Entry) else regular(os.open(file, _READ), file)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False
