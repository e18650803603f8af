"""The kind of another tool's log, from its first bytes, else from its suffix.

The core decompresses compressed files (gzip, bzip2, xz, Zstandard) up to a size limit, whatever their suffix.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from dumbbell import core

PACKED = (".gz", ".bz2", ".xz", ".zst")
"""Suffixes of compressed files, after the suffix of their content."""
_HEAD_BYTES = 1 << 16
"""Number of bytes that are examined."""
_CAPTURES = tuple(
    bytes.fromhex(mark) for mark in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "34cdb2a1", "a1b2cd34", "0a0d0d0a")
)
"""First bytes of pcap in either byte order, in us, in ns and as modified by Kuznetzov, and of pcapng."""
_TEXTS = {
    "qlog": re.compile(r'^[\s\x1e]*\{(?s:.)*"(?:qlog_version|file_schema)"\s*:'),
    "iperf3": re.compile(r'"(?:test_start|connected)"\s*:|^\s*\{\s*"event"\s*:\s*"start"', re.MULTILINE),
    "ss": re.compile(r"(?:^|\s)cwnd:\d"),
}
"""Pattern in the first bytes of a text of each kind. The first match counts."""


def stem_of(file: Path) -> str:
    """Return the name of a file without its suffix and without the suffix of its compression."""
    return Path(_unpacked(file.name)).stem


def suffix_of(file: Path) -> str:
    """Return the suffix of a file in lower case, without the suffix of its compression."""
    return Path(_unpacked(file.name)).suffix.lower()


def _unpacked(name: str) -> str:
    path = Path(name)
    return path.stem if path.suffix.lower() in PACKED else name


def text_of(content: bytes) -> str:
    """Return the text of UTF-8, UTF-16 or UTF-32, without a byte order mark and without padding zeros at the end.

    Raises:
        UnicodeDecodeError: If the content is no text.
    """
    text = content.decode(json.detect_encoding(content)).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\0")


def kind_of(file: Path) -> str | None:
    """Return the kind of a log from its content; None if the content shows none, or cannot be read."""
    try:
        head = core.read_head(str(file), _HEAD_BYTES)
    except core.Error:
        return None
    if head.startswith(_CAPTURES):
        return "capture"
    text = head.decode(json.detect_encoding(head), "replace").removeprefix("\ufeff")
    return next((kind for kind, mark in _TEXTS.items() if mark.search(text)), None)


def is_of_kind(file: Path, kind: str, suffixes: Sequence[str]) -> bool:
    """Return True if a file is a log of a kind, by its content; by its suffix if the content has no known kind."""
    content_kind = kind_of(file)
    return content_kind == kind if content_kind is not None else suffix_of(file) in suffixes
