"""Messages between a peer process and its caller: JSON objects followed by bytes, each way over one pipe.

The peer process begins with the line `GREETING`; earlier output of a login shell is skipped. After it, both ways:
the length of a JSON object (4 bytes, the most significant first), the object, and the bytes counted by its key
`bytes`.
"""

import contextlib
import errno
import json
import math
import os
import queue
import select
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from dumbbell.base.errors import UserError, printable
from dumbbell.base.json_text import BadJson, parse_json

PROTOCOL = 2
GREETING = b"dumbbell-remote %d\n" % PROTOCOL
BEAT_S = 2.0
"""Time between two beats, each way, s."""
SILENCE_S = 15.0
"""Time without a byte after which the other side counts as gone, s."""
MAX_OBJECT_BYTES = 4 * 2**20
"""Maximum length of a JSON object, bytes."""
MAX_PAYLOAD_BYTES = 8 * 2**30
"""Maximum length of a payload if the receiver sets no other limit, bytes."""
MESSAGE_WITHIN_S = 60.0
"""Time in which a message must be complete after its first byte, s; payloads have more time, by their length."""
LOOK_S = 0.05
"""Time between two checks of a queue of messages and of the end of the command, s."""
SLOWEST_BYTES_PER_S = 16 * 2**10
"""Rate below which a payload counts as stalled, bytes/s."""
MOST_NOISE = 64 * 2**10
"""Largest number of bytes before the greeting."""
_CHUNK = 2**20
_PIPE_BUF = 4096
"""Number of bytes that a pipe accepts at once when `poll` calls it writable (pipe(7))."""

Message = dict[str, Any]
T = TypeVar("T")


class Noise(UserError):
    """The other side sent bytes that are not a message."""


class Silence(UserError):
    """The other side has sent nothing for too long."""


def framed(message: Message, payload: bytes | memoryview = b"") -> bytes:
    """Return the bytes of a message up to its payload.

    Raises:
        UserError: the message is too long.
    """
    if payload:
        message = message | {"bytes": len(payload)}
    text = json.dumps(message, separators=(",", ":")).encode()
    if len(text) > MAX_OBJECT_BYTES or len(payload) > MAX_PAYLOAD_BYTES:
        raise UserError(f"a message of {len(text)} and {len(payload)} bytes is longer than allowed")
    return len(text).to_bytes(4, "big") + text


def taking(items: "queue.SimpleQueue[T]") -> Callable[[float | None], list[T]]:
    """Return the wait for the next item of a queue, for `Clock.wait`: it results in the item, or in an empty list."""

    def take(timeout_s: float | None) -> list[T]:
        try:
            return [items.get(timeout=timeout_s)]
        except queue.Empty:
            return []

    return take


class Messages:
    """Both directions of a connection: `send` from any thread, `receive` from one."""

    def __init__(self, source: int, sink: int, clock: Clock = SYSTEM_CLOCK) -> None:
        """Read from the descriptor `source` and write to `sink`. Both stay open, owned by the caller."""
        self.clock = clock
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._kept = b""
        self._finished = False
        self.heard_s = self.clock.monotonic()
        """Time of the last byte, by the monotonic clock, s."""
        self.object_bytes = 0
        """Length of the last JSON object, bytes."""

    def send(self, message: Message, payload: bytes | memoryview = b"") -> None:
        """Write a message; wait while the other side does not read, for `SILENCE_S` at most.

        Raises:
            UserError: the message is too long; nothing was written.
            OSError: nobody reads any more.
            Silence: the other side has taken nothing for too long.
        """
        self.write(framed(message, payload), payload)

    def write(self, head: bytes, payload: bytes | memoryview = b"") -> None:
        """Write the result of `framed` and the payload; raise as `send` does."""
        with self._writing:
            if self._finished:
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            self._write(head)
            self._write(payload)

    def finish(self, within_s: float) -> bool:
        """Prevent further writing, so that the sink may be closed.

        Return False if a message is stuck in it for `within_s`.
        """
        if not self.clock.wait(self._acquire, within_s):
            return False
        self._finished = True
        self._writing.release()
        return True

    def _acquire(self, within_s: float | None) -> bool:
        return self._writing.acquire(timeout=-1 if within_s is None else within_s)

    def greet(self) -> None:
        """Write the first line of a peer process."""
        self._write(GREETING)

    def skip_to_greeting(self, within_s: float) -> None:
        """Read past the output of a login shell, and past the greeting.

        Raises:
            Noise: another protocol, or more than a login shell prints.
            Silence: the greeting did not come in time.
            EOFError: the input ended first.
        """
        name, _, _ = GREETING.partition(b" ")
        deadline_s = self.clock.monotonic() + within_s
        while True:
            position = self._kept.find(name + b" ")
            end = self._kept.find(b"\n", position)
            if position >= 0 and end >= 0:
                line, self._kept = self._kept[position : end + 1], self._kept[end + 1 :]
                if line != GREETING:
                    peer_protocol = printable(line[len(name) :].decode(errors="replace").strip())
                    raise Noise(f"speaks version {peer_protocol} of the protocol, this side version {PROTOCOL}")
                return
            if len(self._kept) > MOST_NOISE:
                begin = printable(self._kept[:60].decode(errors="replace"))
                raise Noise(f"does not answer as dumbbell does, but with `{begin}...`")
            self._kept += self._read(_CHUNK, max(0.0, deadline_s - self.clock.monotonic()))

    def receive(
        self,
        silence_s: float = SILENCE_S,
        waiting: Callable[[], None] | None = None,
        max_payload_bytes: Callable[[], int] | None = None,
    ) -> tuple[Message, bytes]:
        """Return the next message and its payload.

        Args:
            silence_s: Time without a byte after which the other side counts as gone, s.
            waiting: Called about every second until the message begins, and once before.
            max_payload_bytes: Returns the limit for the payload, bytes; called when the message has come.

        Raises:
            Noise: the input is not a message, or longer than allowed.
            Silence: nothing came for `silence_s`, or a message stalled.
            EOFError: the other side has ended.
        """
        begin = self._exactly(1, silence_s, waiting)
        deadline_s = self.clock.monotonic() + MESSAGE_WITHIN_S
        length = int.from_bytes(begin + self._exactly(3, silence_s, deadline_s=deadline_s), "big")
        if not 2 <= length <= MAX_OBJECT_BYTES:
            raise Noise(f"sent a message of {length} bytes: allowed are 2 to {MAX_OBJECT_BYTES}")
        text = self._exactly(length, silence_s, deadline_s=deadline_s)
        self.object_bytes = length
        try:
            message = parse_json(text.decode())
        except (BadJson, UnicodeDecodeError):
            message = None
        if not isinstance(message, dict):
            raise Noise(f"sent what is no message: `{printable(bytes(text[:60]).decode(errors='replace'))}`")
        behind = message.pop("bytes", 0)
        maximum = max_payload_bytes() if max_payload_bytes else MAX_PAYLOAD_BYTES
        if type(behind) is not int or not 0 <= behind <= maximum:
            raise Noise(f"sent a message with `bytes` = {printable(repr(behind)[:60])}: allowed are 0 to {maximum}")
        deadline_s = self.clock.monotonic() + MESSAGE_WITHIN_S + behind / SLOWEST_BYTES_PER_S
        return message, bytes(self._exactly(behind, silence_s, deadline_s=deadline_s))

    def _exactly(
        self,
        count: int,
        silence_s: float,
        waiting: Callable[[], None] | None = None,
        deadline_s: float = math.inf,
    ) -> bytearray:
        parts = bytearray(self._kept[:count])
        self._kept = self._kept[count:]
        if waiting is not None:
            waiting()
        while len(parts) < count:
            if self.clock.monotonic() > deadline_s:
                raise Silence(f"has sent {len(parts)} of {count} bytes of a message, and too slowly")
            try:
                parts += self._read(min(_CHUNK, count - len(parts)), 1.0)
            except Silence:
                if self.clock.monotonic() - self.heard_s > silence_s:
                    raise Silence(f"has sent nothing for {silence_s:.0f} s") from None
                if waiting is not None:
                    waiting()
        return parts

    def _read(self, maximum: int, within_s: float) -> bytes:
        """Return between one and `maximum` bytes."""
        poll = select.poll()  # `select` does not accept descriptors above 1023
        poll.register(self._source, select.POLLIN)
        if not self.clock.wait(polling(poll), within_s):
            raise Silence(f"has sent nothing for {self.clock.monotonic() - self.heard_s:.0f} s")
        part = os.read(self._source, maximum)
        if not part:
            raise EOFError
        self.heard_s = self.clock.monotonic()
        return part

    def _write(self, content: bytes | memoryview) -> None:
        left = memoryview(content)
        poll = select.poll()
        poll.register(self._sink, select.POLLOUT)
        while left:
            if not self.clock.wait(polling(poll), SILENCE_S):
                raise Silence(f"has taken nothing of what is said to it for {SILENCE_S:.0f} s")
            left = left[os.write(self._sink, left[:_PIPE_BUF]) :]


class Beats:
    """Sends `message` every `BEAT_S` from a thread, until it is stopped or nobody reads."""

    def __init__(self, messages: Messages, message: Message) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send, args=(messages, message), name="beats", daemon=True)
        self._thread.start()

    def _send(self, messages: Messages, message: Message) -> None:
        with contextlib.suppress(OSError, Silence):
            while not messages.clock.wait(self._stopped.wait, BEAT_S):
                messages.send(message)

    def stop(self) -> None:
        """Stop the beats, without waiting for one that is being written."""
        self._stopped.set()
