"""Small text files in Pantheon's data directories: metadata and statistics."""

from pathlib import Path

from dumbbell import core
from dumbbell.base.errors import UserError

MOST_BYTES = 1 << 20


def read_text(file: Path, strict: bool, max_bytes: int = MOST_BYTES) -> tuple[str, list[str]]:
    """Return the text of a file of at most `max_bytes`, which may be compressed, and remarks on unusual encodings.

    Pantheon reads bytes: Latin-1 and a byte order mark are accepted unless `strict`.

    Raises:
        FileNotFoundError: If the file does not exist.
        UserError: If the file cannot be read.
    """
    if not file.exists():
        raise FileNotFoundError(file)
    try:
        content = core.read_compressed(str(file), max_bytes)
    except core.Error as error:
        raise UserError(str(error)) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        if strict:
            raise UserError(f"{file}:{line}: not UTF-8: {error.reason}") from None
        return content.decode("latin-1"), [f"{file}:{line}: not UTF-8, read as Latin-1"]
    if strict or not text.startswith("\ufeff"):
        return text, []
    return text.removeprefix("\ufeff"), [f"{file}:1: a byte order mark at the start, left out"]
