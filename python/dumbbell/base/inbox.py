"""What a process that runs foreign code tells its parent, which takes nothing for it that is something else.

A message is a token that only the two know, the length of a JSON object (4 bytes, the most significant first), and the
object. The parent never waits for the rest of one, and executes nothing that it reads.
"""

import json
import os
from collections.abc import Iterator
from typing import Protocol

from dumbbell.base.errors import UserError
from dumbbell.base.json_text import parse_json

TOKEN_BYTES = 16
MOST_BYTES = 64 * 2**20
"""Bytes of the longest message."""
_HEAD_BYTES = TOKEN_BYTES + 4
_CHUNK_BYTES = 2**18


class Open(Protocol):
    """An open pipe or connection."""

    def fileno(self) -> int:
        """Return its descriptor."""
        ...


class Garbled(UserError):
    """Something came that is no message."""

    def __init__(self, what: str = "wrote to a descriptor that it does not own") -> None:
        """`what` the process that sent it did."""
        super().__init__(what)


def send(connection: Open, token: bytes, message: dict[str, object]) -> None:
    """Sends a message.

    Raises:
        OSError: nobody is there to read it.
    """
    text = json.dumps(message, separators=(",", ":")).encode()
    rest = memoryview(token + len(text).to_bytes(4, "big") + text)
    while rest:
        rest = rest[os.write(connection.fileno(), rest) :]


class Inbox:
    """The messages of one process, as far as they have come."""

    def __init__(self, connection: Open, token: bytes) -> None:
        self._connection = connection
        self._token = token
        self._come = bytearray()

    def take(self) -> Iterator[dict[str, object]]:
        """Reads what is there, and yields the messages that are complete with it. Call it when something is there.

        Raises:
            EOFError: there will be no more.
            Garbled: something else came.
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
                raise Garbled
            if len(self._come) < _HEAD_BYTES + length or len(token) < TOKEN_BYTES:
                return
            text = bytes(self._come[_HEAD_BYTES : _HEAD_BYTES + length])
            del self._come[: _HEAD_BYTES + length]
            try:
                message = parse_json(text.decode())
            except ValueError:
                message = None
            if not isinstance(message, dict):
                raise Garbled
            yield message
