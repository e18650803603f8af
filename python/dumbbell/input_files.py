"""Files that people name: only regular ones of a stated size are read, so that nothing waits for ever or never ends."""

import io
import os
import stat
from pathlib import Path

from dumbbell.errors import UserError

MOST_BYTES = 256 * 2**20
"""Largest file of text that is read into memory."""

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a directory",
}


def open_regular(file: Path) -> io.BufferedReader:
    """The file, open for reading.

    Raises:
        UserError: it is something else than a regular file.
        OSError: it cannot be opened.
    """
    # without O_NONBLOCK, to open a named pipe waits for somebody who writes
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise UserError(f"{file}: is {_KINDS.get(kind, 'no file')}: allowed is a regular file")
    return os.fdopen(descriptor, "rb")


def check_regular(file: Path) -> None:
    """Looks at a file that others will open.

    Raises:
        UserError: it is something else than a regular file, or cannot be opened.
    """
    try:
        open_regular(file).close()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def digest(file: Path) -> str:
    """The SHA-256 of the content of a file.

    Raises:
        UserError: it is something else than a regular file.
        OSError: it cannot be read.
    """
    import hashlib  # takes its time, and is needed by few commands

    with open_regular(file) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_bytes(file: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file of at most so many bytes.

    Raises:
        UserError: it is something else than a regular file, or too large.
        OSError: it cannot be read.
    """
    with open_regular(file) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise UserError(f"{file}: has more than {most // 2**20} MiB: allowed are at most so many")
    return content


def read_text(file: Path, encoding: str = "utf-8", errors: str = "strict", most: int = MOST_BYTES) -> str:
    """The content of a file of text of at most so many bytes.

    Raises:
        UserError: it is something else than a regular file, or too large.
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text.
    """
    return read_bytes(file, most).decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
