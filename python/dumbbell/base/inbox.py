"""Messages of a process that runs foreign code to its parent, which accepts only valid ones.

A message is a token that only the two processes know, the length of a JSON object (4 bytes, big-endian), and the
object. The parent never waits for the rest of a message, and executes no data that it reads.
"""

import json
import os
from collections.abc import Iterator
from typing import Protocol

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import parse_json

TOKEN_BYTES = 16
MOST_BYTES = 64 * 2**20
"""Maximum length of a message, bytes."""
_HEAD_BYTES = TOKEN_BYTES + 4
_CHUNK_BYTES = 2**18


class Open(Protocol):
    """An open pipe or connection."""

    def fileno(self) -> int:
        """Return the descriptor of the pipe or connection."""
        ...


class GarbledMessage(UserError):
    """Bytes that are no message have arrived."""

    def __init__(self, deed: str = "wrote to a descriptor that it does not own") -> None:
        """Make the error; `deed` describes the sender's act."""
        super().__init__(deed)


def send(connection: Open, token: bytes, message: dict[str, object]) -> None:
    """Send a message.

    Raises:
        OSError: If the reading end is closed.
    """
    text = json.dumps(message, separators=(",", ":")).encode()
    rest = memoryview(token + len(text).to_bytes(4, "big") + text)
    while rest:
        rest = rest[os.write(connection.fileno(), rest) :]


class Inbox:
    """The received messages of one process."""

    def __init__(self, connection: Open, token: bytes) -> None:
        self._connection = connection
        self._token = token
        self._come = bytearray()

    def take(self) -> Iterator[dict[str, object]]:
        """Read the available bytes, and yield the messages that they complete. Call this if the connection is readable.

        Raises:
            EOFError: If the sender has closed the connection.
            GarbledMessage: If bytes arrived that are no message.
        """
        try:
            chunk = os.read(self._connection.fileno(), _CHUNK_BYTES)
        except OSError:
            chunk = b""
        if not chunk:
            raise EOFError
        self._come += chunk
        while True:
            token, length = self._come[:TOKEN_BYTES], int.from_bytes(self._come[TOKEN_BYTES:_HEAD_BYTES], "big")
            if token != self._token[: len(token)] or length > MOST_BYTES:
                raise GarbledMessage
            if len(self._come) < _HEAD_BYTES + length or len(token) < TOKEN_BYTES:
                return
            text = bytes(self._come[_HEAD_BYTES : _HEAD_BYTES + length])
            del self._come[: _HEAD_BYTES + length]
            try:
                message = parse_json(text.decode())
            except ValueError:
                message = None
            if not isinstance(message, dict):
                raise GarbledMessage
            yield message
