"""Where the two sides of a call meet: a Unix socket, so that nothing of it crosses the path. Lines of JSON."""

import contextlib
import json
import select
import socket
from pathlib import Path

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError

Line = dict[str, str]
_LONGEST_PATH = 107
"""Linux: a socket's address holds so many bytes and a null."""


class Meeting:
    """A connection to the other side."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def close(self) -> None:
        """Ends the connection; the other side notices."""
        self._lines.close()
        self._connection.close()

    def tell(self, line: Line) -> None:
        """Sends a line; whether somebody is left to read it shows later."""
        with contextlib.suppress(OSError):
            self._connection.sendall(json.dumps(line).encode() + b"\n")

    def hear(self, key: str, within_s: float) -> str:
        """What the other side says under `key`.

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
        said: Line = json.loads(line)
        if key not in said:
            raise CallError(f"the other side sent {', '.join(said)} instead of its {key}")
        return said[key]

    def is_over(self) -> bool:
        """Whether the other side has ended; it says nothing any more at this stage."""
        return bool(select.select([self._connection], [], [], 0)[0])


class Host:
    """The side that is there first."""

    def __init__(self, address: Path) -> None:
        """Listens at `address`."""
        self._listener = _socket(address)
        try:
            self._listener.bind(str(address))
        except OSError as error:
            self.close()
            raise CallError(f"{address}: {error.strerror}") from None
        self._listener.listen(1)

    def close(self) -> None:
        """Listens no more."""
        self._listener.close()

    def welcome(self) -> Meeting:
        """Waits for the other side, as long as it takes."""
        return Meeting(self._listener.accept()[0])


def join(address: Path, within_s: float, clock: Clock = SYSTEM_CLOCK) -> Meeting:
    """Goes to the side that is there first.

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
