"""Files that people name: only regular ones are read, up to the size that their kind may have.

Who read others would wait for ever, never end, or fill the memory.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.entry import Entry, open_regular
from dumbbell.base.errors import UserError


@dataclass(frozen=True)
class Kind:
    """What a file is, for messages, and how large one may be."""

    name: str
    most_mib: int

    @property
    def most_bytes(self) -> int:
        """Size of the largest file that is read."""
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
    """Looks at a file that others will open; its size in bytes.

    Raises:
        UserError: it is something else than a regular file, or cannot be opened.
    """
    try:
        with open_regular(file) as stream:
            return os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def require_size(file: Path | Entry, kind: Kind, size: int) -> None:
    """Refuses a file of `size` bytes that is larger than its kind may be.

    Raises:
        UserError: it is.
    """
    if size > kind.most_bytes:
        raise UserError(f"{file}: has {size / 2**20:.1f} MiB: allowed for {kind.name} are at most {kind.most_mib} MiB")


def digest(file: Path | Entry, kind: Kind | None = None) -> str:
    """The SHA-256 of the content of a file, of any size without a `kind`.

    Raises:
        UserError: it is something else than a regular file, or too large.
        OSError: it cannot be read.
    """
    import hashlib  # takes its time, and is needed by few commands

    with open_regular(file) as stream:
        if kind is not None:
            require_size(file, kind, os.fstat(stream.fileno()).st_size)
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_bytes(file: Path | Entry, kind: Kind) -> bytes:
    """The content of a file.

    Raises:
        UserError: it is something else than a regular file, or too large.
        OSError: it cannot be read.
    """
    with open_regular(file) as stream:
        require_size(file, kind, os.fstat(stream.fileno()).st_size)
        content = stream.read(kind.most_bytes + 1)
    require_size(file, kind, len(content))  # it may have grown
    return content


def read_text(file: Path | Entry, kind: Kind, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The content of a file of text.

    Raises:
        UserError: it is something else than a regular file, or too large.
        OSError: it cannot be read.
        UnicodeDecodeError: it is no text.
    """
    return text_of(read_bytes(file, kind), encoding, errors)


def text_of(content: bytes, encoding: str = "utf-8", errors: str = "strict") -> str:
    """Return the content of a file as text, whose lines end in a line feed.

    Raises:
        UnicodeDecodeError: it is no text.
    """
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content.decode(encoding, errors)
