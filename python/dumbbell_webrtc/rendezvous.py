"""Rendezvous of both ends of a call: a Unix socket with lines of JSON, so that nothing crosses the path."""

import contextlib
import json
import select
import socket
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError

Line = dict[str, str]
_LONGEST_PATH = 107
"""Maximum length of a socket's address on Linux, bytes without the null."""


class Meeting:
    """Connection to the peer."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def close(self) -> None:
        """Close the connection. The peer notices."""
        self._lines.close()
        self._connection.close()

    def tell(self, line: Line) -> None:
        """Send a line. If the peer is gone, a later call reports it."""
        with contextlib.suppress(OSError):
            self._connection.sendall(json.dumps(line).encode() + b"\n")

    def hear(self, key: str, within_s: float) -> str:
        """Return the peer's value of `key`.

        Raises:
            CallError: it says nothing in time, something else, or has ended.
        """
        self._connection.settimeout(within_s)
        try:
            line = self._lines.readline()
        except TimeoutError:
            raise CallError(f"the other side has sent no {key} within {within_s:g} s") from None
        except OSError:
            line = b""
        if not line:
            raise CallError(f"the other side has ended before it sent its {key}")
        message: Line = json.loads(line)
        if key not in message:
            raise CallError(f"the other side sent {', '.join(message)} instead of its {key}")
        return message[key]

    def is_over(self) -> bool:
        """Return True if the peer has ended. The peer sends no more lines at this stage."""
        return bool(select.select([self._connection], [], [], 0)[0])


class Host:
    """End that listens for the peer."""

    def __init__(self, address: Path) -> None:
        """Listen at `address`."""
        self._listener = _socket(address)
        try:
            self._listener.bind(str(address))
        except OSError as error:
            self.close()
            raise CallError(f"{address}: {error.strerror}") from None
        self._listener.listen(1)

    def close(self) -> None:
        """Stop listening."""
        self._listener.close()

    def welcome(self) -> Meeting:
        """Wait for the peer without a timeout."""
        return Meeting(self._listener.accept()[0])


def join(address: Path, within_s: float, clock: Clock = SYSTEM_CLOCK) -> Meeting:
    """Connect to the listening end.

    Raises:
        CallError: nobody is there in time.
    """
    end = clock.monotonic() + within_s
    while True:
        connection = _socket(address)
        try:
            connection.connect(str(address))
        except OSError as error:
            connection.close()
            if clock.monotonic() > end:
                raise CallError(f"{address}: the other side is not there: {error.strerror}") from None
            clock.sleep(0.02)
        else:
            return Meeting(connection)


def _socket(address: Path) -> socket.socket:
    if len(str(address).encode()) > _LONGEST_PATH:
        raise CallError(
            f"{address}: a socket's name has at most {_LONGEST_PATH} bytes: set TMPDIR to a shorter directory"
        )
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
