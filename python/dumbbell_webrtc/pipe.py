"""Client of a browser's DevTools over two pipes: JSON messages, each terminated by a null byte."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell_webrtc.errors import CallError

Message = dict[str, Any]
Handler = Callable[[Message, str], None]
"""Callback for an event's parameters and session. It runs in the reading thread: it may `post`, not `call`."""


class DevTools:
    """Connection that calls methods of a browser and receives its events."""

    def __init__(self, reading: int, writing: int, clock: Clock = SYSTEM_CLOCK) -> None:
        """Take over the descriptors `reading` and `writing`."""
        self._clock = clock
        self._reading, self._writing = reading, writing
        self._handlers: dict[str, Handler] = {}
        self._changed = threading.Condition()
        self._write_lock = threading.Lock()
        self._last_id = 0
        self._waiting: set[int] = set()
        self._replies: dict[int, Message] = {}
        self._broken: str | None = None
        self._closing = False
        self._reader = threading.Thread(target=self._read, name="devtools", daemon=True)
        self._reader.start()

    def on(self, event: str, handler: Handler) -> None:
        """Register `handler` for an event."""
        self._handlers[event] = handler

    def post(self, method: str, parameters: Message | None = None, session: str = "") -> None:
        """Call a method without waiting for its result."""
        self._send(method, parameters, session, is_awaited=False)

    def call(
        self, method: str, parameters: Message | None = None, session: str = "", timeout_s: float = 10.0
    ) -> Message:
        """Return the result of a method.

        Raises:
            CallError: it failed, did not answer in time, or the browser is gone.
        """
        number = self._send(method, parameters, session, is_awaited=True)
        end = self._clock.monotonic() + timeout_s
        with self._changed:
            try:
                while number not in self._replies:
                    if self._broken:
                        raise CallError(self._broken)
                    left = end - self._clock.monotonic()
                    if left <= 0:
                        raise CallError(f"the browser does not answer {method} within {timeout_s:g} s")
                    self._clock.wait(self._changed.wait, left)
                reply = self._replies.pop(number)
            finally:
                self._waiting.discard(number)
        if "error" in reply:
            raise CallError(f"the browser refuses {method}: {reply['error'].get('message')}")
        result: Message = reply.get("result", {})
        return result

    def fail(self, reason: str) -> None:
        """Fail all pending and future calls with a reason."""
        with self._changed:
            self._broken = self._broken or reason
            self._changed.notify_all()

    def close(self) -> None:
        """Close both pipes after the browser has ended."""
        self._closing = True
        with self._write_lock:
            os.close(self._writing)
        self._reader.join(timeout=1.0)
        if not self._reader.is_alive():
            os.close(self._reading)

    def _send(self, method: str, parameters: Message | None, session: str, is_awaited: bool) -> int:
        with self._changed:
            if self._broken:
                raise CallError(self._broken)
            self._last_id += 1
            number = self._last_id
            if is_awaited:
                self._waiting.add(number)
        message: Message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        left = memoryview(json.dumps(message).encode() + b"\0")
        with self._write_lock:
            try:
                while left:
                    left = left[os.write(self._writing, left) :]
            except OSError:
                self.fail("the browser has ended")
                raise CallError("the browser has ended") from None
        return number

    def _read(self) -> None:
        rest = b""
        while True:
            try:
                chunk = os.read(self._reading, 1 << 20)
            except OSError:
                chunk = b""
            if not chunk:
                self.fail("the browser has ended")
                return
            *texts, rest = (rest + chunk).split(b"\0")
            for text in texts:
                self._take(json.loads(text))

    def _take(self, message: Message) -> None:
        number = message.get("id")
        if number is None:
            handler = self._handlers.get(message.get("method", ""))
            if handler and not self._closing:
                try:
                    handler(message.get("params", {}), message.get("sessionId", ""))
                except CallError as error:
                    self.fail(str(error))
            return
        with self._changed:
            # A response that nobody waits for is dropped.
            if number in self._waiting:
                self._replies[number] = message
                self._changed.notify_all()
