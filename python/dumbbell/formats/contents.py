"""The kind of a log of another tool, told by its first bytes, and by its suffix where these do not tell.

The core decompresses what is compressed (gzip, bzip2, xz, Zstandard), bounded, whatever the file is called.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from dumbbell import core

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files, behind the suffix of what is in them."""
_HEAD_BYTES = 1 << 16
"""First bytes that are looked at."""
_CAPTURES = tuple(
    bytes.fromhex(mark) for mark in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "34cdb2a1", "a1b2cd34", "0a0d0d0a")
)
"""First bytes of pcap in either byte order, in us, in ns and as modified by Kuznetzov, and of pcapng."""
_TEXTS = {
    "qlog": re.compile(r'^[\s\x1e]*\{(?s:.)*"(?:qlog_version|file_schema)"\s*:'),
    "iperf3": re.compile(r'"(?:test_start|connected)"\s*:|^\s*\{\s*"event"\s*:\s*"start"', re.MULTILINE),
    "ss": re.compile(r"(?:^|\s)cwnd:\d"),
}
"""What a text of each kind has in its first bytes; the first kind that fits counts."""


def stem_of(file: Path) -> str:
    """Return the name of a file without its suffix, and without that of its compression."""
    return Path(_unpacked(file.name)).stem


def suffix_of(file: Path) -> str:
    """Return the suffix of a file in lower case, as if it was not compressed."""
    return Path(_unpacked(file.name)).suffix.lower()


def _unpacked(name: str) -> str:
    path = Path(name)
    return path.stem if path.suffix.lower() in PACKED else name


def text_of(content: bytes) -> str:
    """Return the text in UTF-8, UTF-16 or UTF-32, with or without a mark, without zeros that pad its end.

    Raises:
        UnicodeDecodeError: it is no text.
    """
    text = content.decode(json.detect_encoding(content)).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\0")


def kind_of(file: Path) -> str | None:
    """Return the kind of a log that the content of a file tells; None if it tells none, or cannot be read."""
    try:
        head = core.read_head(str(file), _HEAD_BYTES)
    except core.Error:
        return None
    if head.startswith(_CAPTURES):
        return "capture"
    text = head.decode(json.detect_encoding(head), "replace").removeprefix("\ufeff")
    return next((kind for kind, mark in _TEXTS.items() if mark.search(text)), None)


def is_of_kind(file: Path, kind: str, suffixes: Sequence[str]) -> bool:
    """Return whether a file is a log of a kind: by its content, or by its suffix if the content is of no known kind."""
    told = kind_of(file)
    return told == kind if told is not None else suffix_of(file) in suffixes
