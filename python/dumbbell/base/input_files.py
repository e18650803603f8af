"""Reading of files that people name: only regular files, up to the maximum size of their kind.

Reading other files may wait forever, never end, or fill the memory.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.entry import Entry, open_regular
from dumbbell.base.errors import UserError


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name in messages, and the maximum size, MiB."""

    name: str
    most_mib: int

    @property
    def most_bytes(self) -> int:
        """Maximum size of a file, bytes."""
        return self.most_mib * 2**20


TOML = Kind("a TOML file", 16)
JSON = Kind("a JSON file", 64)
TABLE = Kind("a table", 64)
TEXT = Kind("a text file", 256)
LOG = Kind("a log", 256)
PYTHON_CLASSES = Kind("a file with classes in Python", 4)
LIBRARY = Kind("a library", 1024)
CONTROLLER = Kind("a compiled controller", 16)
C_SOURCE = Kind("a source file in C", 1)
PARAMETER = Kind("a file that a parameter names", 256)
TRAINING = Kind("the file of a training", 256)
JOURNAL = Kind("the journal of a calibration", 256)
WHEEL = Kind("a wheel", 1024)
PACKETS = Kind("the packets of a baseline", 64)
TRUSTED = Kind("the record of trusted code", 16)


def check_regular(file: Path | Entry) -> int:
    """Return the size of a file that other code will open, bytes.

    Raises:
        UserError: If the file is no regular file, or cannot be opened.
    """
    try:
        with open_regular(file) as stream:
            return os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def require_size(file: Path | Entry, kind: Kind, size: int) -> None:
    """Raise an error if the size of a file is above the maximum of its kind.

    Raises:
        UserError: If the file is too large.
    """
    if size > kind.most_bytes:
        raise UserError(f"{file}: has {size / 2**20:.1f} MiB: allowed for {kind.name} are at most {kind.most_mib} MiB")


def digest(file: Path | Entry, kind: Kind | None = None) -> str:
    """Return the SHA-256 of a file's content. Without a `kind` the size has no limit.

    Raises:
        UserError: If the file is no regular file, or too large.
        OSError: If the file cannot be read.
    """
    import hashlib  # takes its time, and is needed by few commands

    with open_regular(file) as stream:
        if kind is not None:
            require_size(file, kind, os.fstat(stream.fileno()).st_size)
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_bytes(file: Path | Entry, kind: Kind) -> bytes:
    """Return the content of a file.

    Raises:
        UserError: If the file is no regular file, or too large.
        OSError: If the file cannot be read.
    """
    with open_regular(file) as stream:
        require_size(file, kind, os.fstat(stream.fileno()).st_size)
        content = stream.read(kind.most_bytes + 1)
    require_size(file, kind, len(content))  # the file may have grown
    return content


def read_text(file: Path | Entry, kind: Kind, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the content of a text file.

    Raises:
        UserError: If the file is no regular file, or too large.
        OSError: If the file cannot be read.
        UnicodeDecodeError: If the content is not in the encoding.
    """
    return text_of(read_bytes(file, kind), encoding, errors)


def text_of(content: bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the content of a file as text with line feeds at the ends of lines.

    Raises:
        UnicodeDecodeError: If the content is not in the encoding.
    """
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content.decode(encoding, errors)
